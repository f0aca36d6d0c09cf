// `oncebox watch`: prints what becomes of one's own pushes as it happens, and runs a command for each event.

import type { RemoteEvent } from '../../client/answers.ts'
import type { PushClient } from '../../client/client.ts'
import { ClientFailure } from '../../client/failure.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import { wholeNumber } from '../../settings/parsers.ts'
import { printableLine } from '../../text/printable.ts'
import { toggle, valued } from '../command.ts'
import { formatLocalTime, printableJson } from '../format.ts'
import { serverCommand, untilAnswered } from '../server-command.ts'
import type { Shell } from '../shell.ts'
import { notBlank } from './push.ts'

export const WATCH = serverCommand({
  name: 'watch',
  needsLogin: true,
  flags: {
    json: toggle('json'),
    exec: valued('exec <command>', notBlank),
    after: valued('after <number>', wholeNumber('0', String(Number.MAX_SAFE_INTEGER))),
  },
  act: async ({ client, server, flags: { json, exec, after }, shell }) => {
    const begin = after ?? (await findLast(client))
    shell.say(`Watching ${server} from event ${begin + 1} on. Ctrl-C ends it.`)
    for await (const event of follow(client, { after: begin, shell })) {
      shell.print(json ? printableJson(JSON.stringify(event.members)) : lineOf(event))
      if (exec !== null) await runFor(event, { exec, shell })
    }
  },
})

/** Below the 25 that a server takes, and what proxies allow. */
const WAIT_SECONDS = 20

type Events = Pick<PushClient, 'listEvents'>

/** The number of the last event that there is. */
async function findLast({ listEvents }: Events): Promise<number> {
  for (let after: number | null = null; ; ) {
    const page = await listEvents({ after, wait: 0 })
    if (page.events.length === 0) return page.next
    after = page.next
  }
}

/** All events from there on, for ever. Throws when the server refuses, and waits while it does not answer. */
async function* follow(
  { listEvents }: Events,
  from: { after: number; shell: Shell },
): AsyncGenerator<RemoteEvent> {
  const { shell } = from
  let after: number | null = from.after
  const ask = () => listEvents({ after, wait: WAIT_SECONDS })
  for (;;) {
    try {
      const page = await untilAnswered(ask, shell)
      yield* page.events
      after = page.next
    } catch (cause) {
      if (!(cause instanceof ClientFailure && cause.kind === 'gone' && after !== null)) throw cause
      shell.warn(
        'the server does not keep the events after that number any more, so some may be missing here.',
      )
      after = null
    }
  }
}

function lineOf({ timestamp, type, data }: RemoteEvent): string {
  const facts = Object.entries(data).map(([name, value]) => `${name}=${value}`)
  return printableLine([formatLocalTime(timestamp), type, ...facts].join('  '))
}

/** The event reaches the command as variables alone, and never as a part of a shell's line. */
async function runFor(event: RemoteEvent, { exec, shell }: { exec: string; shell: Shell }): Promise<void> {
  const { env, platform } = shell.os
  const command = platform === 'win32' ? ['cmd.exe', '/d', '/s', '/c', exec] : ['/bin/sh', '-c', exec]
  const failed = (why: string) =>
    shell.warn(`the command for event ${event.id} (${printableLine(event.type)}) ${why}.`)
  try {
    const child = Bun.spawn(command, {
      env: { ...env, ...variablesOf(event) },
      ...{ stdin: 'ignore', stdout: 'inherit', stderr: 'inherit' },
    })
    const code = await child.exited
    if (code !== 0)
      failed(child.signalCode === null ? `ended with ${code}` : `was ended by ${child.signalCode}`)
  } catch (cause) {
    failed(`could not be run: ${reasonOf(cause)}`)
  }
}

function variablesOf({ id, type, timestamp, data }: RemoteEvent): Record<string, string> {
  const all = { ...data, id, type, timestamp }
  return Object.fromEntries(
    Object.entries(all).map(([name, value]) => [`ONCEBOX_EVENT_${name.toUpperCase()}`, plain(String(value))]),
  )
}

/** Without what any shell would obey if the command puts the variable into a line without quotes. */
function plain(value: string): string {
  return value.replace(/[^\w.:+-]/g, '')
}
