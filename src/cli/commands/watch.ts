// `oncebox watch`: prints events of the user's own pushes as they happen, and runs a command for each.

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

/** How long a poll may wait, in seconds: less than the server's limit of 25 and the timeouts of proxies. */
const WAIT_SECONDS = 20

type Events = Pick<PushClient, 'listEvents'>

/** Resolves to the number of the latest event. */
async function findLast({ listEvents }: Events): Promise<number> {
  for (let after: number | null = null; ; ) {
    const page = await listEvents({ after, wait: 0 })
    if (page.events.length === 0) return page.next
    after = page.next
  }
}

/** Yields all later events, for ever. Throws when the server refuses; retries while it is unavailable. */
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
      shell.warn('the server has discarded some events after that number, so they are missing here.')
      after = null
    }
  }
}

function lineOf({ timestamp, type, data }: RemoteEvent): string {
  const facts = Object.entries(data).map(([name, value]) => `${name}=${value}`)
  return printableLine([formatLocalTime(timestamp), type, ...facts].join('  '))
}

/**
 * Runs the command for an event, which it gets as variables only, never as part of a shell's command line.
 */
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

/** Removes characters that are special in a shell, in case the command uses the variable unquoted. */
function plain(value: string): string {
  return value.replace(/[^\w.:+-]/g, '')
}
