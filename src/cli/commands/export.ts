// `oncebox export`: an account's own list and logs in a file.

import { ClientFailure } from '../../client/failure.ts'
import { type OwnPushesReport, readOwnPushes } from '../../client/own-pushes.ts'
import { type ExportFormat, writeList } from '../../domain/list-export.ts'
import { formatTime } from '../../domain/time.ts'
import { oneOf } from '../../settings/parsers.ts'
import { printable } from '../../text/printable.ts'
import { valued } from '../command.ts'
import { CommandFailure } from '../failures.ts'
import { formatCount, formatSize, printableJson } from '../format.ts'
import { newFile, STANDARD } from '../paths.ts'
import { type ServerCall, serverCommand } from '../server-command.ts'
import type { Shell } from '../shell.ts'
import { writeWholeFile } from '../whole-file.ts'

export const EXPORT = serverCommand({
  name: 'export',
  operands: '[FILE|-]',
  needsLogin: true,
  isPatient: true,
  flags: {
    format: valued('format <json|csv>', oneOf('json', 'csv')),
  },
  problems: ({ operands: [file = STANDARD] }) => {
    const found = file === STANDARD ? { value: file } : newFile(file)
    return ['problem' in found && `FILE ${JSON.stringify(file)}: ${found.problem}`]
  },
  act: async ({ flags, operands: [file = STANDARD], shell, ...visit }) => {
    const format = flags.format ?? (/\.csv$/i.test(file) ? 'csv' : 'json')
    const report: OwnPushesReport = { pushes: 0, damagedPushes: 0, damagedLogs: 0 }
    const fill = (write: Write) => writeAll({ ...visit, format, report, shell }, write)
    if (file === STANDARD) {
      const shown = format === 'json' ? printableJson : printable
      await fill((text) => shell.writeBytes(Buffer.from(shell.isOutputTerminal ? shown(text) : text)))
    } else {
      const progress = shell.startProgress('exporting', () => 'cancelled; nothing was written')
      const onWritten = (bytes: number) => progress.update(bytes, null)
      await writeWholeFile(file, { fill, onWritten }).finally(progress.stop)
    }
    const { pushes, damagedPushes, damagedLogs } = report
    shell.say(`Exported ${formatCount(pushes, 'push', 'pushes')}${file === STANDARD ? '' : ` to ${file}`}.`)
    if (damagedPushes + damagedLogs > 0)
      throw new CommandFailure(
        `Damaged on the server and missing: ${damagedPushes} pushes, and the logs of ${damagedLogs}. Its log names them.`,
      )
  },
})

/** The maximum size of an export, enough for a million pushes with their logs. */
const MAX_BYTES = 4 * 1024 ** 3

type Write = (text: string) => Promise<void>
type ExportOptions = Pick<ServerCall, 'client' | 'server'> & {
  format: ExportFormat
  report: OwnPushesReport
  shell: Shell
}

async function writeAll(
  { client, server, format, report, shell }: ExportOptions,
  write: Write,
): Promise<void> {
  const exported = { server, at: formatTime(shell.now()), pushes: readOwnPushes(client, report) }
  let left = MAX_BYTES
  for await (const text of writeList(format, exported)) {
    left -= Buffer.byteLength(text)
    if (left < 0) throw new ClientFailure('failed', `${server} sends more than ${formatSize(MAX_BYTES)}.`)
    await write(text)
  }
}
