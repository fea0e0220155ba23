// SPDX-License-Identifier: MIT
// Results of a network for people: the likeliest classes as a table, images as characters or as a file.
#pragma once

#include <span>
#include <string>

#include "builder.h"

namespace networks {

// Of each row of the batch.
void show_classes(std::span<const float> probabilities, const Sizes& sizes);

// The first image beside the input.
void show_images(std::span<const float> input, const Sizes& input_sizes, std::span<const float> output,
                 const Sizes& output_sizes);

// The first image as a file of the formats PGM and PPM. Throws if it cannot be written.
void write_image(const std::string& path, std::span<const float> image, const Sizes& sizes);

}  // namespace networks
