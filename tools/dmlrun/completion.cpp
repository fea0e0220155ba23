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

// The kind of value that an option takes.
enum class Takes { nothing, text, file, folder, word, list };  // a list: comma-separated words

struct OptionWords {
  std::vector<std::string> names;  // "-i", "--iterations"
  std::string description;
  Takes takes;
  std::string values;  // for a word or a list
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

// The values of the option whose placeholder in the help text is `type`.
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
  } else if (type == "SHELL") {
    words = {"bash", "zsh", "fish"};
  }
#if defined(DMLRUN_BENCH)
  if (words.empty()) {
    words = bench::option_values(type);
  }
#endif
  return joined(words);
}

Takes takes_of(const CLI::Option& option, const std::string& values) {
  const std::string type = option.get_type_name();
  return option.get_items_expected_max() == 0             ? Takes::nothing
         : !values.empty() && option.get_delimiter() != 0 ? Takes::list
         : !values.empty()                                ? Takes::word
         : type == "FOLDER"                               ? Takes::folder
         : type.ends_with("FILE") || type.ends_with("VALUES") || type.ends_with("TENSOR") || type.find('.') != type.npos
             ? Takes::file  // "OUT.npy"
             : Takes::text;
}

std::vector<OptionWords> options_of(const CLI::App& command) {
  std::vector<OptionWords> all;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) {
      continue;  // accepted for compatibility, but not offered
    }
    const std::string values = values_of(option->get_type_name());
    OptionWords words{{}, option->get_description(), takes_of(*option, values), values};
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
    text += text.empty() ? "" : " ";
    text += op.name;
    for (const std::string_view family : {"ELEMENT_WISE_", "ACTIVATION_"}) {
      if (op.name.starts_with(family)) {
        text += " ";
        text += op.name.substr(family.size());
      }
    }
  }
  for (const facts::Alias& alias : facts::operator_aliases()) {
    text += " ";
    text += alias.name;
  }
  return text;
}

constexpr const char* kHelp = "help";

std::string names_of_commands(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : commands_of(app)) {
    names += (names.empty() ? "" : " ") + command->get_name();
  }
  return names;
}

// The words that may follow a command, other than its options; empty if files follow.
std::string words_after(const std::string& command) {
  return command == "operators" || command == "run-operator" || command == "skeleton" ? operator_names()
         : command == "completion"                                                    ? values_of("SHELL")
                                                                                      : "";
}
// Whether the command accepts only options or numbers.
bool takes_no_files(const std::string& command) { return command == "adapters" || command == "bench"; }

std::string bash_script(const CLI::App& app) {
  const std::string names = names_of_commands(app);
  std::string cases;
  std::string values;
  for (const CLI::App* command : commands_of(app)) {
    const std::string name = command->get_name();
    std::vector<std::string> words;
    for (const OptionWords& option : options_of(*command)) {
      words.insert(words.end(), option.names.begin(), option.names.end());
      std::string pattern;
      for (const std::string& word : option.names) {
        pattern += format_text("{}{}:{}", pattern.empty() ? "" : "|", name, word);
      }
      if (option.takes != Takes::nothing) {
        values += format_text("    {}) options= words=\"{}\" files={} list={} ;;\n", pattern, option.values,
                              option.takes == Takes::file     ? "-f"
                              : option.takes == Takes::folder ? "-d"
                                                              : "",
                              option.takes == Takes::list ? "yes" : "");
      }
    }
    const std::string after = words_after(name);
    cases += format_text("    {}) options=\"{} --help\" words=\"{}\" files={} ;;\n", name, joined(words), after,
                         after.empty() && !takes_no_files(name) ? "-f" : "");
  }
  return "# bash completion for dmlrun\n"
         "_dmlrun() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} place=$COMP_CWORD command=${COMP_WORDS[1]}\n"
         "  # bash splits words at = and :\n"
         "  if [ \"$word\" = = ]; then word=; elif [ \"${COMP_WORDS[place-1]}\" = = ]; then place=$((place - 1)); fi\n"
         "  local before=${COMP_WORDS[place-1]} options words= files=-f list= all one\n"
         "  case \" " +
         names + " " + kHelp +
         " \" in\n"
         "    *\" $command \"*) [ \"$COMP_CWORD\" -gt 1 ] || command= ;;\n"
         "    *) command=run ;;\n"
         "  esac\n"
         "  case ${command:-run} in\n"
         "    help) options= words=\"" +
         names + "\" files= ;;\n" + cases +
         "  esac\n"
         "  case ${command:-run}:$before in\n" +
         values +
         "  esac\n"
         "  [ \"$COMP_CWORD\" -gt 1 ] || words=\"" +
         names + " " + kHelp +
         " --help --version\"\n"
         "  # Complete the last word of a list and keep the rest.\n"
         "  if [ -n \"$list\" ] && [[ $word == *,* ]]; then\n"
         "    all=\n"
         "    for one in $words; do all+=\" ${word%,*},$one\"; done\n"
         "    words=$all\n"
         "  fi\n"
         "  [[ $word != -* ]] || words+=\" $options\"\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  [ -z \"$files\" ] || [[ $word == -* ]] || COMPREPLY+=($(compgen \"$files\" -- \"$word\"))\n"
         "  [ -z \"$list\" ] || compopt -o nospace 2>/dev/null\n"
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

// The text in single quotes, with the characters that _arguments interprets escaped.
std::string zsh_quoted(const std::string& text) {
  std::string safe;
  for (const char letter : escaped(text, "[]:")) {
    safe += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return safe;
}

std::string zsh_value(const OptionWords& option) {
  switch (option.takes) {
    case Takes::nothing:
      return "";
    case Takes::text:
      return ":value: ";
    case Takes::file:
      return ":file:_files";
    case Takes::folder:
      return ":folder:_files -/";
    case Takes::word:
      return format_text(":value:({})", zsh_quoted(option.values));
    case Takes::list:
      return format_text(":values:_sequence compadd - {}", zsh_quoted(option.values));
  }
  return "";
}

std::string zsh_script(const CLI::App& app) {
  std::string names = format_text("    '{}:Show help for a command'\n", kHelp);
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    names += format_text("    '{}:{}'\n", command->get_name(), zsh_quoted(command->get_description()));
    cases += format_text("    {})\n      _arguments", command->get_name());
    for (const OptionWords& option : options_of(*command)) {
      for (const std::string& name : option.names) {
        cases += format_text(" \\\n        '{}{}[{}]{}'", name,
                             name.starts_with("--") && option.takes != Takes::nothing ? "=" : "",
                             zsh_quoted(option.description), zsh_value(option));
      }
    }
    const std::string words = words_after(command->get_name());
    cases += " \\\n        '--help[Show help]'";
    if (!words.empty()) {
      cases += format_text(" \\\n        '*:word:({})'", words);
    } else if (!takes_no_files(command->get_name())) {
      cases += " \\\n        '*:file:_files'";
    }
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
         cases + "    help) compadd " + names_of_commands(app) +
         " ;;\n"
         "    *) _files ;;\n"
         "  esac\n"
         "}\n"
         "if [ \"${funcstack[1]}\" = _dmlrun ]; then _dmlrun \"$@\"; else compdef _dmlrun dmlrun; fi\n";
}

std::string fish_value(const OptionWords& option) {
  switch (option.takes) {
    case Takes::nothing:
      return "";
    case Takes::text:
      return " -x";
    case Takes::file:
      return " -r -F";
    case Takes::folder:
      return " -x -a '(__fish_complete_directories)'";
    case Takes::word:
      return format_text(" -x -a '{}'", option.values);
    case Takes::list:
      return format_text(" -x -a '(__dmlrun_list {})'", option.values);
  }
  return "";
}

std::string fish_script(const CLI::App& app) {
  std::string text = format_text(
      "# fish completion for dmlrun\n"
      "function __dmlrun_list -d 'Complete the last word of a list and keep the rest'\n"
      "  set -l written (string replace -r '^--[^=]*=' '' -- (commandline -ct))\n"
      "  printf '%s\\n' (string match -r '.*,' -- $written; or echo)$argv\n"
      "end\n"
      "complete -c dmlrun -n __fish_use_subcommand -a {0} -d 'Show help for a command'\n"
      "complete -c dmlrun -n '__fish_seen_subcommand_from {0}' -f -a '{1}'\n",
      kHelp, names_of_commands(app));
  std::string others = kHelp;  // without one of these commands, dmlrun runs a model
  for (const CLI::App* command : commands_of(app)) {
    others += command->get_name() == "run" ? "" : " " + command->get_name();
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
      text += format_text("{} -d '{}'\n", fish_value(option), escaped(option.description, "'\\"));
    }
    if (const std::string words = words_after(name); !words.empty() || takes_no_files(name)) {
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
