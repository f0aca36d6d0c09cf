// Writes the table of settings into README.md; with `--check` it only tells whether the README is up to date.

import { defaultText, type Setting, variableOf } from '../src/setting.ts'
import { settings } from '../src/settings.ts'

const START = '<!-- settings -->'
const END = '<!-- /settings -->'
const README = new URL('../README.md', import.meta.url)

function settingsTable(): string {
  const rows = Object.values<Setting>(settings).map((setting) => {
    const variable = `\`${variableOf(setting)}\`${setting.file ? ' (`_FILE`)' : ''}`
    const flag = `\`--${setting.flag}${setting.bare ? '' : ` <${setting.placeholder}>`}\``
    const preset = setting.defaultWords ?? `\`${defaultText(setting)}\``
    return [flag, variable, preset, setting.help].map((cell) => cell.replaceAll('|', '\\|'))
  })
  return [['Flag', 'Environment', 'Default', 'Meaning'], ['---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}

function withTable(readme: string): string {
  const [start, end] = [readme.indexOf(START), readme.indexOf(END)]
  if (start < 0 || end < start) throw new Error(`README.md has no ${START} … ${END}`)
  return `${readme.slice(0, start + START.length)}\n\n${settingsTable()}\n\n${readme.slice(end)}`
}

const before = await Bun.file(README).text()
const after = withTable(before)
if (before === after) process.exit(0)
if (process.argv.includes('--check')) {
  console.error('The table of settings in README.md is out of date: run "npm run readme".')
  process.exit(1)
}
await Bun.write(README, after)
