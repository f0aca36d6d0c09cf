// `oncebox export`: an account's own list and logs in a file.

import { ClientFailure } from '../client/failure.ts'
import { type OwnPushesReport, readOwnPushes } from '../client/own-pushes.ts'
import { createListWriter, type ExportFormat } from '../domain/list-export.ts'
import { printable } from '../domain/printable.ts'
import { codeOf } from '../domain/system-errors.ts'
import { formatTime } from '../domain/time.ts'
import type { Given } from './command.ts'
import { CommandFailure } from './failures.ts'
import { formatCount, formatSize, printableJson } from './format.ts'
import { STANDARD } from './paths.ts'
import type { Shell } from './shell.ts'
import type { Visit } from './visit.ts'
import { createWholeFile, type WholeFile } from './whole-file.ts'

/** A million pushes with their logs have less. */
const MAX_BYTES = 4 * 1024 ** 3

type Exporting = Given<{ format: ExportFormat | null }> & Visit

export async function exportPushes({ flags, operands, shell, ...visit }: Exporting): Promise<void> {
  const [file = STANDARD] = operands
  const format = flags.format ?? (file.toLowerCase().endsWith('.csv') ? 'csv' : 'json')
  const report =
    file === STANDARD ? await print(visit, format, shell) : await save(visit, { file, format, shell })
  tell(report, file, shell)
}

type ClientVisit = Pick<Visit, 'client' | 'server'>

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
  let left = MAX_BYTES
  await write(writer.begin())
  for await (const pushes of readOwnPushes(client, report)) {
    const text = writer.write(pushes)
    left -= Buffer.byteLength(text)
    if (left < 0) throw new ClientFailure('failed', `${server} sends more than ${formatSize(MAX_BYTES)}.`)
    await write(text)
  }
  await write(writer.end())
  return report
}

/** Throws when something of it is missing, because it is damaged on the server. */
function tell({ pushes, damagedPushes, damagedLogs }: OwnPushesReport, file: string, shell: Shell): void {
  const place = file === STANDARD ? '' : ` to ${file}`
  shell.say(`Exported ${formatCount(pushes, 'push', 'pushes')}${place}.`)
  if (damagedPushes + damagedLogs === 0) return
  throw new CommandFailure(
    `Damaged on the server and missing: ${damagedPushes} pushes, and the logs of ${damagedLogs}. Its log names them.`,
  )
}
