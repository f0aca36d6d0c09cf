// `oncebox expire`, `edit`, `audit` and `list`: manage the user's own pushes.

import { parsePush, type RemotePush } from '../../client/answers.ts'
import { MAX_PAGE, PAGE_SIZE } from '../../domain/audit.ts'
import { type Parsed, wholeNumber } from '../../settings/parsers.ts'
import { NO_VALUE } from '../../settings/setting.ts'
import { printableLine } from '../../text/printable.ts'
import { toggle, valued } from '../command.ts'
import { formatCount, formatLimit, formatLocalTime, formatTimeLeft } from '../format.ts'
import { printJson, serverCommand } from '../server-command.ts'
import type { Shell } from '../shell.ts'
import { fitColumns, separateByTabs } from '../table.ts'
import { limitFlags, nameFlags } from './push.ts'

export const json = toggle('json')
export const page = {
  ...valued('page <number>', wholeNumber('1', String(MAX_PAGE))),
  default: '1',
}

/** Defines a flag of which an empty text removes the current value. Without the flag the value stays. */
function removable(name: string) {
  const parse = (value: string): Parsed<string> =>
    value === NO_VALUE ? { problem: `may be "", which removes the ${name}` } : { value }
  return { ...valued(`${name} <text>`, parse), bare: NO_VALUE }
}

const edited = {
  name: removable('name'),
  note: removable('note'),
  ...limitFlags,
}

export const OWN_PUSHES = [
  serverCommand({
    name: 'expire',
    operands: 'LINK-OR-TOKEN',
    flags: { json },
    act: async ({ client, urlToken, flags, shell }) => {
      const { body } = await client.expire(urlToken)
      if (flags.json) return printJson(body, shell)
      const { deleted, ...push } = parsePush(body)
      const when = whenExpired(push)
      shell.print(deleted ? `Expired${when}; it can no longer be opened.` : `It had already expired${when}.`)
    },
  }),
  serverCommand({
    name: 'edit',
    operands: 'LINK-OR-TOKEN',
    needsLogin: true,
    flags: { ...edited, json },
    problems: ({ raw }) => {
      const names = Object.values(edited).map(({ flag }) => flag)
      const isAny = names.some((name) => raw[name] !== undefined)
      return [!isAny && `nothing to change: add ${names.map((name) => `--${name}`).join(', ')}`]
    },
    act: async ({ client, urlToken, flags: { json, ...fields }, shell }) => {
      const { body } = await client.edit(urlToken, fields).catch((cause) => nameFlags(cause))
      if (json) return printJson(body, shell)
      const push = parsePush(body)
      const more = formatCount(push.viewsRemaining, 'more view')
      shell.print(
        push.expired
          ? `Changed. It expired${whenExpired(push)}.`
          : `Changed. It expires after ${more} or ${formatLimit(push)}, whichever comes first.`,
      )
    },
  }),
  serverCommand({
    name: 'audit',
    operands: 'LINK-OR-TOKEN',
    needsLogin: true,
    flags: { page, json },
    act: async ({ client, urlToken, flags: { page, json }, shell }) => {
      const { entries, answer } = await client.audit(urlToken, page)
      if (json) return printJson(answer, shell)
      const rows = entries.map(({ at, kind, ip, referrer, userAgent }) => [
        ...[formatLocalTime(at), kind.replaceAll('_', ' '), ip, referrer || '-', userAgent || '-'],
      ])
      const none = 'There are no entries.'
      printTable(['TIME', 'WHAT', 'ADDRESS', 'REFERRER', 'PROGRAM'], { rows, page, none, stretch: 4 }, shell)
    },
  }),
  serverCommand({
    name: 'list',
    needsLogin: true,
    flags: { expired: toggle('expired'), page, json },
    act: async ({ client, flags: { expired, page, json }, shell }) => {
      const { pushes, leftOut, answer } = await client.list(expired ? 'expired' : 'active', page)
      if (json) return printJson(answer, shell)
      const none = expired ? 'None of your pushes has expired.' : 'You have no active pushes.'
      const header = ['CREATED', 'KIND', 'NAME', expired ? 'EXPIRED' : 'LEFT', 'LINK']
      if (leftOut > 0)
        shell.say(`Damaged on the server and not shown: ${leftOut}. The server's log names them.`)
      const shortLast = pushes.map(({ urlToken }) => urlToken)
      const rows = pushes.map((push) => rowOf(push, shell.now()))
      printTable(header, { rows, shortLast, stretch: 2, leftOut, page, none }, shell)
    },
  }),
]

function whenExpired({ expiredOn }: Pick<RemotePush, 'expiredOn'>): string {
  return expiredOn === null ? '' : ` on ${formatLocalTime(expiredOn)}`
}

function rowOf(push: RemotePush, now: number): string[] {
  const { createdAt, kind, name, htmlUrl, urlToken, viewsRemaining, expired, expiredOn, request } = push
  const left = `${formatCount(viewsRemaining, 'view')}, ${formatTimeLeft(push, now)}`
  const state = expired ? formatLocalTime(expiredOn ?? '') || '-' : left
  const sealed = request === null ? ', end-to-end' : ', arrived encrypted'
  const what = `${kind}${request === null ? '' : ', received'}${push.isEndToEnd ? sealed : ''}`
  return [formatLocalTime(createdAt), what, name || '-', state, htmlUrl ?? urlToken]
}

type TablePage = {
  rows: string[][]
  /** The column that a narrow terminal shortens. */
  stretch: number
  shortLast?: string[]
  leftOut?: number
  page: number
  none: string
}

/** Prints a table that fits the terminal; for programs, prints all of it, separated by tabs. */
export function printTable(header: string[], table: TablePage, shell: Shell): void {
  const { leftOut = 0, page, none, ...fitting } = table
  const rows = table.rows.map((cells) => cells.map(printableLine))
  const lines = shell.isOutputTerminal
    ? fitColumns(header, rows, { ...fitting, width: shell.width })
    : separateByTabs(header, rows)
  if (rows.length > 0) shell.print(...lines)
  else if (leftOut === 0) shell.say(page === 1 ? none : `There is nothing on page ${page}.`)
  if (rows.length + leftOut >= PAGE_SIZE && page < MAX_PAGE)
    shell.say(`There may be more: --page ${page + 1}.`)
}
