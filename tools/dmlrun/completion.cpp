// SPDX-License-Identifier: MIT
#include "completion.h"

#include <CLI/Option.hpp>

#if defined(DMLRUN_BENCH)
#include "bench.h"
#endif
#include "facts/facts.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

struct OptionWords {
  std::vector<std::string> names;  // "-i", "--iterations"
  std::string description;
  bool takes_value;
  std::string values;  // those it takes, where they can be listed
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

// By what the help calls its value.
std::string values_of(const std::string& type) {
  std::vector<std::string> words;
  if (type == "LEVEL") {
    for (const facts::FeatureLevelName& level : facts::feature_levels()) {
      words.emplace_back(level.name);
    }
  } else if (type == "TYPE") {
#define ANYDML_ADD_NAME(T, name, value) words.emplace_back(#name);
    ANYDML_FOR_EACH_TYPE(ANYDML_ADD_NAME)
#undef ANYDML_ADD_NAME
  } else if (type == "0-2") {
    words = {"0", "1", "2"};
  } else if (type == "QUEUE") {
    words = {"direct", "compute"};
  }
#if defined(DMLRUN_BENCH)
  if (words.empty()) {
    words = bench::option_values(type);
  }
#endif
  return joined(words);
}

std::vector<OptionWords> options_of(const CLI::App& command) {
  std::vector<OptionWords> all;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) {
      continue;  // taken for old command lines, not offered
    }
    OptionWords words{
        {}, option->get_description(), option->get_items_expected_max() > 0, values_of(option->get_type_name())};
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

std::string operator_names() {
  std::string text;
  for (const facts::Operator& op : facts::operators()) {
    constexpr std::string_view kFamily = "ELEMENT_WISE_";
    text += text.empty() ? "" : " ";
    text += op.name;
    if (op.name.starts_with(kFamily)) {
      text += " ";
      text += op.name.substr(kFamily.size());
    }
  }
  for (const facts::Alias& alias : facts::operator_aliases()) {
    text += " ";
    text += alias.name;
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
  std::string values;
  for (const CLI::App* command : commands_of(app)) {
    std::vector<std::string> words;
    for (const OptionWords& option : options_of(*command)) {
      words.insert(words.end(), option.names.begin(), option.names.end());
      for (const std::string& name : option.names) {
        if (!option.values.empty()) {
          values += format_text("    {}:{}) words=\"{}\" files= ;;\n", command->get_name(), name, option.values);
        }
      }
    }
    names += (names.empty() ? "" : " ") + command->get_name();
    cases += format_text("    {}) options=\"{}\" words=\"{}\" ;;\n", command->get_name(), joined(words),
                         bash_words(command->get_name()));
  }
  return "# bash completion of dmlrun\n"
         "_dmlrun() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
         "  local options words= files=yes\n"
         "  case \" " +
         names +
         " \" in\n"
         "    *\" $command \"*) [ \"$COMP_CWORD\" -gt 1 ] || command= ;;\n"
         "    *) command=run ;;\n"
         "  esac\n"
         "  case ${command:-run} in\n" +
         cases +
         "  esac\n"
         "  case ${command:-run}:$before in\n" +
         values +
         "  esac\n"
         "  [ \"$COMP_CWORD\" -gt 1 ] || words=\"" +
         names +
         " --help --version\"\n"
         "  case $word in\n"
         "    -*) COMPREPLY=($(compgen -W \"$options $words\" -- \"$word\")) ;;\n"
         "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "       [ -z \"$files\" ] || COMPREPLY+=($(compgen -f -- \"$word\")) ;;\n"
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
                             !option.takes_value     ? std::string()
                             : option.values.empty() ? std::string(":value:_files")
                                                     : format_text(":value:({})", option.values));
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
         "  if (( CURRENT == 2 )) && [[ ${words[2]} != -* ]]; then\n"
         "    _describe command commands\n"
         "    _files -g '*.json'\n"
         "    return\n"
         "  fi\n"
         "  local command=run\n"
         "  if (( ${commands[(I)${words[2]}:*]} )); then command=${words[2]}; shift words; (( CURRENT-- )); fi\n"
         "  case $command in\n" +
         cases +
         "    *) _files ;;\n"
         "  esac\n"
         "}\n"
         "if [ \"${funcstack[1]}\" = _dmlrun ]; then _dmlrun \"$@\"; else compdef _dmlrun dmlrun; fi\n";
}

std::string fish_script(const CLI::App& app) {
  std::string text = "# fish completion of dmlrun\n";
  std::string others;  // without one of them it is a run
  for (const CLI::App* command : commands_of(app)) {
    others += command->get_name() == "run" ? "" : (others.empty() ? "" : " ") + command->get_name();
  }
  for (const CLI::App* command : commands_of(app)) {
    const std::string name = command->get_name();
    text += format_text("complete -c dmlrun -n __fish_use_subcommand -a {} -d '{}'\n", name,
                        escaped(command->get_description(), "'\\"));
    for (const OptionWords& option : options_of(*command)) {
      text += name == "run" ? "complete -c dmlrun -n 'not __fish_seen_subcommand_from " + others + "'"
                            : format_text("complete -c dmlrun -n '__fish_seen_subcommand_from {}'", name);
      for (const std::string& word : option.names) {
        text += word.starts_with("--") ? " -l " + word.substr(2) : " -s " + word.substr(1);
      }
      text += format_text("{}{} -d '{}'\n", option.takes_value ? " -r" : "",
                          option.values.empty() ? std::string() : format_text(" -f -a '{}'", option.values),
                          escaped(option.description, "'\\"));
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
