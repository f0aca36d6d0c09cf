// Completion scripts for four shells, each from the same description of the commands.

export type CompletedFlag = {
  name: string
  summary: string
  /** The flag's value: none, any text, a path, or one of these words. */
  value: 'none' | 'text' | 'path' | readonly string[]
}

/** `words` is empty for the program itself. */
export type CompletedCommand = {
  words: string
  children: readonly { name: string; summary: string }[]
  flags: readonly CompletedFlag[]
}

type Commands = readonly CompletedCommand[]

export function bashScript(commands: Commands): string {
  const known = commands.filter(({ words }) => words !== '').map(({ words }) => `' ${words} '`)
  const words = commands.map((command) => `    '${command.words}') words='${wordsOf(command).join(' ')}' ;;`)
  const values = commands.flatMap((command) =>
    command.flags.flatMap((flag) => {
      const reply = bashReply(flag)
      return reply === null ? [] : [`    '${command.words} --${flag.name}') ${reply}; return ;;`]
    }),
  )
  return `# Completion of oncebox for bash.

_oncebox() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command='' word words=''
  # Bash cuts --flag=value into three words.
  if [[ $cur == '=' ]]; then cur=''; elif [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case " \${command:+$command }$word " in
    ${known.join('|')}) command="\${command:+$command }$word" ;;
    esac
  done
  COMPREPLY=()
  case "$command $prev" in
${values.join('\n')}
  esac
  case "$command" in
${words.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}

complete -o default -F _oncebox oncebox
`
}

function bashReply({ value }: CompletedFlag): string | null {
  if (value === 'none') return null
  // Nothing to offer; \`complete -o default\` then offers files.
  if (value === 'path') return 'COMPREPLY=()'
  return value === 'text'
    ? 'compopt +o default 2>/dev/null'
    : `COMPREPLY=($(compgen -W '${value.join(' ')}' -- "$cur"))`
}

function wordsOf({ children, flags }: CompletedCommand): string[] {
  return [...children.map(({ name }) => name), ...flags.map(({ name }) => `--${name}`)]
}

export function zshScript(commands: Commands): string {
  const cases = commands.map(
    (command) => `    ('${command.words}')
      items=(${command.children.map(zshItem).join(' ')})
      flags=(${command.flags.map(zshFlag).join(' ')}) ;;`,
  )
  const known = commands.filter(({ words }) => words !== '').map(({ words }) => `'${words}'`)
  return `#compdef oncebox
# Completion of oncebox for zsh.

_oncebox() {
  local command='' word
  local -a items flags known
  known=(${known.join(' ')})
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if (( \${known[(Ie)\${command:+$command }$word]} )); then command="\${command:+$command }$word"; fi
  done
  case "$command" in
${cases.join('\n')}
  esac
  if (( \${#items} )) && [[ \${words[CURRENT]} != -* ]]; then
    _describe -t commands command items
  else
    _arguments -S "\${flags[@]}" '*:file:_files'
  fi
}

compdef _oncebox oncebox
`
}

function zshItem({ name, summary }: { name: string; summary: string }): string {
  return zshQuote(summary === '' ? name : `${name}:${summary}`)
}

function zshFlag({ name, summary, value }: CompletedFlag): string {
  const described = `--${name}[${summary.replace(/[[\]:\\]/g, '\\$&')}]`
  if (value === 'none') return zshQuote(described)
  if (value === 'path') return zshQuote(`*${described}:path:_files`)
  return zshQuote(value === 'text' ? `*${described}:value: ` : `*${described}:value:(${value.join(' ')})`)
}

function zshQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

export function fishScript(commands: Commands): string {
  const lines = commands.flatMap((command) => {
    const condition = `-n ${fishQuote(`__oncebox_at ${command.words}`.trim())}`
    const children = command.children.map(
      ({ name, summary }) => `complete -c oncebox ${condition} -f -a ${name} -d ${fishQuote(summary)}`,
    )
    const flags = command.flags.map((flag) => `complete -c oncebox ${condition} ${fishFlag(flag)}`)
    return [...children, ...flags]
  })
  const known = commands.filter(({ words }) => words !== '').map(({ words }) => fishQuote(words))
  return `# Completion of oncebox for fish.

# Whether the line so far names exactly this command.
function __oncebox_at
    set -l command
    for word in (commandline -opc)[2..-1]
        set -l longer (string join -- ' ' $command $word)
        if contains -- "$longer" ${known.join(' ')}
            set command $command $word
        end
    end
    test "$command" = "$argv"
end

${lines.join('\n')}
`
}

function fishFlag({ name, summary, value }: CompletedFlag): string {
  const flag = `-l ${name} -d ${fishQuote(summary)}`
  if (value === 'none') return flag
  if (value === 'path') return `${flag} -rF`
  return value === 'text' ? `${flag} -x` : `${flag} -xa ${fishQuote(value.join(' '))}`
}

function fishQuote(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`
}

export function powershellScript(commands: Commands): string {
  const table = commands.map((command) => {
    const words = command.children.map(({ name, summary }) => powershellPair(name, summary || name))
    const flags = command.flags.map(({ name, summary }) => powershellPair(`--${name}`, summary))
    return `    ${powershellQuote(command.words)} = @(${[...words, ...flags].join(', ')})`
  })
  const values = commands.flatMap((command) =>
    command.flags.flatMap(({ name, value }) =>
      typeof value === 'string'
        ? []
        : [
            `    ${powershellQuote(`${command.words} --${name}`)} = @(${value.map(powershellQuote).join(', ')})`,
          ],
    ),
  )
  return `# Completion of oncebox for PowerShell.

Register-ArgumentCompleter -Native -CommandName oncebox -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @{
${table.join('\n')}
  }
  $values = @{
${values.join('\n')}
  }
  $command = ''
  $previous = ''
  foreach ($element in @($commandAst.CommandElements | Select-Object -Skip 1)) {
    if ($element.Extent.EndOffset -ge $cursorPosition) { break }
    $previous = $element.ToString()
    $longer = "$command $previous".Trim()
    if ($words.ContainsKey($longer)) { $command = $longer }
  }
  if ($values.ContainsKey("$command $previous")) {
    $offered = $values["$command $previous"] | ForEach-Object { ,@($_, $_) }
  } else {
    $offered = $words[$command]
  }
  foreach ($pair in $offered) {
    if ($pair[0] -like "$wordToComplete*") {
      [System.Management.Automation.CompletionResult]::new($pair[0], $pair[0], 'ParameterValue', $pair[1])
    }
  }
}
`
}

function powershellPair(word: string, summary: string): string {
  return `@(${powershellQuote(word)}, ${powershellQuote(summary)})`
}

function powershellQuote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
