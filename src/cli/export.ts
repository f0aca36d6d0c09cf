// `oncebox export`: an account's own list and logs in a file.

import type { Command } from 'commander'
import { type OwnPushesReport, readOwnPushes } from '../client/own-pushes.ts'
import { createListWriter, type ExportFormat } from '../domain/list-export.ts'
import { printable } from '../domain/printable.ts'
import { codeOf } from '../domain/system-errors.ts'
import { formatTime } from '../domain/time.ts'
import { addClientCommand, type ClientParts, type ClientVisit } from './client-command.ts'
import { CommandFailure } from './failures.ts'
import { addTextFlag, readOperands, textFlag } from './flags.ts'
import { printableJson } from './format.ts'
import type { Shell } from './shell.ts'
import { createWholeFile, newFileProblems, type WholeFile } from './whole-file.ts'

const HELP =
  'Writes all your pushes, active and expired, with their names, notes, secret links and logs. Their content is not in it. ' +
  'Without FILE, or with -, it goes to standard output. A file is made with access for you alone, whole or not at all, and ' +
  'never over another one. JSON has all that the server tells. CSV is one table: a row for each push, below it the entries of ' +
  'its log; before what a spreadsheet would run as a formula it has an apostrophe. Needs a login.'

const EXAMPLES = `  oncebox export pushes.json
  oncebox export pushes.csv
  oncebox export --format csv > pushes.csv`

const FILE = 'FILE|-'
const OUTPUT = '-'
const FORMATS: readonly ExportFormat[] = ['json', 'csv']

export function addExportCommand(program: Command, parts: ClientParts): void {
  const { shell } = parts
  const command = addClientCommand(program, {
    ...parts,
    name: 'export',
    needsLogin: true,
    summary: 'save your list of pushes and their logs as JSON or CSV',
    help: HELP,
    examples: EXAMPLES,
    optional: FILE,
    isPatient: true,
    problems: (command) => [...formatProblems(command), ...fileProblems(command)],
    work: async (visit, command) => {
      const [file = OUTPUT] = visit.operands
      const format = formatOf(command, file)
      const report =
        file === OUTPUT ? await print(visit, format, shell) : await save(visit, { file, format, shell })
      tell(report, file, shell)
    },
  })
  addTextFlag(
    command,
    '--format <json|csv>',
    'Format; otherwise csv for a FILE that ends in .csv, and json for any other',
  )
}

function formatProblems(command: Command): string[] {
  const text = textFlag(command, 'format')
  const isKnown = text === undefined || FORMATS.some((format) => format === text)
  return isKnown ? [] : [`--format ${JSON.stringify(text)}: must be json or csv`]
}

function fileProblems(command: Command): string[] {
  const [file = OUTPUT] = readOperands(command, { names: [FILE], optional: 1 }).operands
  return file === OUTPUT ? [] : newFileProblems('FILE', file)
}

function formatOf(command: Command, file: string): ExportFormat {
  const text = textFlag(command, 'format')
  const isCsv = text === undefined ? file.toLowerCase().endsWith('.csv') : text === 'csv'
  return isCsv ? 'csv' : 'json'
}

async function print(visit: ClientVisit, format: ExportFormat, shell: Shell): Promise<OwnPushesReport> {
  const shown = format === 'json' ? printableJson : printable
  const write = (text: string) => shell.writeBytes(Buffer.from(shell.isOutputTerminal ? shown(text) : text))
  return writeAll(visit, format, { shell, write }).catch((cause) => {
    if (codeOf(cause) !== 'EPIPE') throw cause
    throw new CommandFailure('Nobody reads standard output any more: the list there is not whole.')
  })
}

type Saving = { file: string; format: ExportFormat; shell: Shell }

async function save(visit: ClientVisit, { file, format, shell }: Saving): Promise<OwnPushesReport> {
  const whole: WholeFile = await createWholeFile(file)
  const progress = shell.startProgress('exporting', () => {
    whole.dropNow()
    return 'cancelled; nothing was written'
  })
  let written = 0
  try {
    const report = await writeAll(visit, format, {
      shell,
      write: async (text) => {
        await whole.write(text)
        written += Buffer.byteLength(text)
        progress.update(written, null)
      },
    })
    await whole.finish()
    return report
  } catch (cause) {
    await whole.drop()
    throw cause
  } finally {
    progress.stop()
  }
}

type Writing = { shell: Shell; write: (text: string) => Promise<void> }

async function writeAll(
  { client, server }: ClientVisit,
  format: ExportFormat,
  { shell, write }: Writing,
): Promise<OwnPushesReport> {
  const report: OwnPushesReport = { pushes: 0, damagedPushes: 0, damagedLogs: 0 }
  const writer = createListWriter(format, { server, at: formatTime(shell.now()) })
  await write(writer.begin())
  for await (const pushes of readOwnPushes(client, report)) await write(writer.write(pushes))
  await write(writer.end())
  return report
}

/** Throws when something of it is missing, because it is damaged on the server. */
function tell({ pushes, damagedPushes, damagedLogs }: OwnPushesReport, file: string, shell: Shell): void {
  const place = file === OUTPUT ? '' : ` to ${file}`
  shell.say(`Exported ${pushes} ${pushes === 1 ? 'push' : 'pushes'}${place}.`)
  if (damagedPushes + damagedLogs === 0) return
  throw new CommandFailure(
    `Damaged on the server and missing: ${damagedPushes} pushes, and the logs of ${damagedLogs}. Its log names them.`,
  )
}
