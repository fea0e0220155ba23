// SPDX-License-Identifier: MIT
#include "completion.h"

#include <CLI/Option.hpp>

#include "ops/facts/facts.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

struct OptionWords {
  std::vector<std::string> names;  // "-i", "--iterations"
  std::string description;
  bool takes_value;
};

std::vector<OptionWords> options_of(const CLI::App& command) {
  std::vector<OptionWords> all;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) {
      continue;  // taken for old command lines, not offered
    }
    OptionWords words{{}, option->get_description(), option->get_items_expected_max() > 0};
    for (const std::string& name : option->get_snames()) {
      words.names.push_back("-" + name);
    }
    for (const std::string& name : option->get_lnames()) {
      words.names.push_back("--" + name);
    }
    if (!words.names.empty()) {
      all.push_back(std::move(words));
    }
  }
  return all;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

std::string operator_names() {
  std::string text;
  for (const facts::Operator& op : facts::operators()) {
    text += text.empty() ? "" : " ";
    text += op.name;
  }
  return text;
}

// What follows a command besides its options.
std::string bash_words(const std::string& command) {
  if (command == "operators") {
    return operator_names();
  }
  return command == "completion" ? "bash zsh fish" : "";
}

std::string bash_script(const CLI::App& app) {
  std::string names;
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    std::vector<std::string> words;
    for (const OptionWords& option : options_of(*command)) {
      words.insert(words.end(), option.names.begin(), option.names.end());
    }
    names += (names.empty() ? "" : " ") + command->get_name();
    cases += format_text("    {}) options=\"{}\"; words=\"{}\" ;;\n", command->get_name(), joined(words),
                         bash_words(command->get_name()));
  }
  return "# bash completion of dmlrun\n"
         "_dmlrun() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} options words=\n"
         "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"" +
         names +
         " --help --version\" -- \"$word\") $(compgen -f -X '!*.json' -- \"$word\") $(compgen -d -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  case $command in\n" +
         cases +
         "    *) return ;;\n"
         "  esac\n"
         "  case $word in\n"
         "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
         "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$word\") $(compgen -f -- \"$word\")) ;;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F _dmlrun dmlrun\n";
}

std::string escaped(std::string text, std::string_view special) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (special.find(text[i]) != std::string_view::npos) {
      text.insert(i++, 1, '\\');
    }
  }
  return text;
}

// In single quotes; what _arguments itself would read is escaped.
std::string zsh_quoted(const std::string& text) {
  std::string safe;
  for (const char letter : escaped(text, "[]:")) {
    safe += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return safe;
}

std::string zsh_script(const CLI::App& app) {
  std::string names;
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    names += format_text("    '{}:{}'\n", command->get_name(), zsh_quoted(command->get_description()));
    cases += format_text("    {})\n      _arguments", command->get_name());
    for (const OptionWords& option : options_of(*command)) {
      for (const std::string& name : option.names) {
        cases += format_text(" \\\n        '{}[{}]{}'", name, zsh_quoted(option.description),
                             option.takes_value ? ":value:_files" : "");
      }
    }
    const std::string words = bash_words(command->get_name());
    cases += words.empty() ? " \\\n        '*:file:_files'" : format_text(" \\\n        '*:word:({})'", words);
    cases += " ;;\n";
  }
  return "#compdef dmlrun\n"
         "_dmlrun() {\n"
         "  local -a commands=(\n" +
         names +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe command commands\n"
         "    _files -g '*.json'\n"
         "    return\n"
         "  fi\n"
         "  local command=${words[2]}\n"
         "  shift words; (( CURRENT-- ))\n"
         "  case $command in\n" +
         cases +
         "    *) _files ;;\n"
         "  esac\n"
         "}\n"
         "compdef _dmlrun dmlrun\n";
}

std::string fish_script(const CLI::App& app) {
  std::string text = "# fish completion of dmlrun\n";
  for (const CLI::App* command : commands_of(app)) {
    const std::string name = command->get_name();
    text += format_text("complete -c dmlrun -n __fish_use_subcommand -a {} -d '{}'\n", name,
                        escaped(command->get_description(), "'\\"));
    for (const OptionWords& option : options_of(*command)) {
      text += format_text("complete -c dmlrun -n '__fish_seen_subcommand_from {}'", name);
      for (const std::string& word : option.names) {
        text += word.starts_with("--") ? " -l " + word.substr(2) : " -s " + word.substr(1);
      }
      text += format_text("{} -d '{}'\n", option.takes_value ? " -r" : "", escaped(option.description, "'\\"));
    }
    if (const std::string words = bash_words(name); !words.empty()) {
      text += format_text("complete -c dmlrun -n '__fish_seen_subcommand_from {}' -f -a '{}'\n", name, words);
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  return shell == "bash" ? bash_script(app) : shell == "zsh" ? zsh_script(app) : fish_script(app);
}

}  // namespace anydml::dmlrun
