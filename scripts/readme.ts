// Writes the table of settings into docs/settings.md; with `--check` it only checks that the page is up to
// date.

import { defaultText, type Setting, variableOf } from '../src/settings/setting.ts'
import { settings } from '../src/settings/table.ts'

const START = '<!-- settings -->'
const END = '<!-- /settings -->'
const PAGE = new URL('../docs/settings.md', import.meta.url)

function settingsTable(): string {
  const rows = Object.values<Setting>(settings).map((setting) => {
    const variable = `\`${variableOf(setting)}\`${setting.file ? ' (`_FILE`)' : ''}`
    const flag = setting.variableOnly
      ? '(variable only)'
      : `\`--${setting.flag}${setting.bare ? '' : ` <${setting.placeholder}>`}\``
    const preset = setting.defaultWords ?? `\`${defaultText(setting)}\``
    return [flag, variable, preset, setting.help].map((cell) => cell.replaceAll('|', '\\|'))
  })
  return [['Flag', 'Environment', 'Default', 'Meaning'], ['---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}

function withTable(page: string): string {
  const [start, end] = [page.indexOf(START), page.indexOf(END)]
  if (start < 0 || end < start) throw new Error(`docs/settings.md has no ${START} … ${END}`)
  return `${page.slice(0, start + START.length)}\n\n${settingsTable()}\n\n${page.slice(end)}`
}

const before = await Bun.file(PAGE).text()
const after = withTable(before)
if (before === after) process.exit(0)
if (process.argv.includes('--check')) {
  console.error('The table of settings in docs/settings.md is out of date: run "npm run readme".')
  process.exit(1)
}
await Bun.write(PAGE, after)
