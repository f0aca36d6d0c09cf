// `oncebox edit`: changes the name, note and limits of a push.

import type { Command } from 'commander'
import { parsePush, type RemotePush } from '../client/answers.ts'
import { addClientCommand, type ClientParts, printJson } from './client-command.ts'
import { addTextFlag, textFlag } from './flags.ts'
import { formatCount, formatLocalTime } from './format.ts'
import { DURATION_NAMES, nameFlags, readFields } from './push-fields.ts'

const HELP =
  'Changes the name or note of one of your pushes, or lets it expire sooner. ' +
  'Days and durations count from its creation, and views include those already used. ' +
  'An empty name or note ("") removes it. Needs a login.'

const EXAMPLES = `  oncebox edit https://once.example/p/7k3m9qx2vn4t8bw5hj6r0yzacd/r --name "VPN for Cleo"
  oncebox edit 7k3m9qx2vn4t8bw5hj6r0yzacd --days 2 --views 1
  oncebox edit 7k3m9qx2vn4t8bw5hj6r0yzacd --note ""`

const FLAGS = ['name', 'note', 'days', 'views', 'duration']

export function addEditCommand(program: Command, parts: ClientParts): void {
  const { shell } = parts
  const command = addClientCommand(program, {
    ...parts,
    name: 'edit',
    needsLogin: true,
    summary: 'change the name, note or limits of one of your pushes',
    help: HELP,
    examples: EXAMPLES,
    operands: ['LINK-OR-TOKEN'],
    problems: editProblems,
    work: async ({ client, urlToken }, command) => {
      const { body } = await client.edit(urlToken, readEdit(command).fields).catch((cause) => {
        throw nameFlags(cause)
      })
      if (command.getOptionValue('json') === true) return printJson(body, shell)
      shell.print(describePush(parsePush(body)))
    },
  })
  addTextFlag(command, '--name <text>', 'A label that only you see')
  addTextFlag(command, '--note <text>', 'A note that only you see')
  addTextFlag(command, '--days <number>', 'Expires this many days after its creation')
  addTextFlag(command, '--views <number>', 'Expires after this many views in all')
  addTextFlag(
    command,
    '--duration <time>',
    `Expires ${DURATION_NAMES[0]}, ${DURATION_NAMES[1]}, … ${DURATION_NAMES.at(-1)} after its creation`,
  )
  command.option('--json', "Print the server's response")
}

/** Keeps an empty name or note, which removes it; for a new push it means "not given". */
function readEdit(command: Command) {
  return readFields(command, { mayBeEmpty: ['name', 'note'] })
}

function editProblems(command: Command): string[] {
  const { problems } = readEdit(command)
  if (FLAGS.some((flag) => textFlag(command, flag) !== undefined)) return problems
  return [...problems, `nothing to change: add ${FLAGS.map((flag) => `--${flag}`).join(', ')}`]
}

function describePush({ expired, expiredOn, viewsRemaining, expiresAt, daysRemaining }: RemotePush): string {
  if (expired) return `Changed. It expired${expiredOn === null ? '' : ` on ${formatLocalTime(expiredOn)}`}.`
  const until = expiresAt === null ? formatCount(daysRemaining, 'day') : `on ${formatLocalTime(expiresAt)}`
  return `Changed. It expires after ${formatCount(viewsRemaining, 'more view')} or ${until}, whichever comes first.`
}
