// `oncebox backup-task`: what a server with --backup-dir starts to work in that folder. Reads the task from standard
// input, which stays open for as long as the server lives.

import type { Command } from 'commander'
import type { App } from './app.ts'
import type { Shell } from './shell.ts'

/** As a process that SIGTERM ends. What is unfinished is removed on the way out. */
const STOPPED = 143

export function addBackupTaskCommand(program: Command, { shell, app }: { shell: Shell; app: App }): void {
  program.command(app.backupTaskCommand).action(async () => {
    const stop = () => shell.exitNow(STOPPED)
    shell.onSignal((wish) => wish === 'stop' && stop())
    const task = await readTask(shell, stop)
    await app.runBackupTask(task, { now: shell.now, tell: shell.print, giveWay: shell.giveWay })
  })
}

/** Resolves to the first line. `onEnd` is called when nothing more can come: the server has ended. */
function readTask(shell: Shell, onEnd: () => void): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const read = async () => {
    const decoder = new TextDecoder()
    let text = ''
    for await (const piece of shell.readInputBytes()) {
      text += decoder.decode(piece, { stream: true })
      const end = text.indexOf('\n')
      if (end !== -1) resolve(text.slice(0, end))
    }
  }
  void read()
    .catch(() => undefined)
    .then(onEnd)
  return promise
}
