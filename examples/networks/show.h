// SPDX-License-Identifier: MIT
// Shows the results of a network: the likeliest classes as a table, images as characters or as a file.
#pragma once

#include <span>
#include <string>

#include "builder.h"

namespace networks {

// Prints the likeliest classes for each input in the batch.
void show_classes(std::span<const float> probabilities, const Sizes& sizes);

// Prints the first image next to the input.
void show_images(std::span<const float> input, const Sizes& input_sizes, std::span<const float> output,
                 const Sizes& output_sizes);

// Writes the first image as a PGM or PPM file. Throws if the file cannot be written.
void write_image(const std::string& path, std::span<const float> image, const Sizes& sizes);

}  // namespace networks
