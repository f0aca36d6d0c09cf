// `oncebox expire`, `edit`, `audit` and `list`: managing one's own pushes.

import { parsePush, type RemotePush } from '../client/answers.ts'
import { MAX_PAGE, PAGE_SIZE } from '../domain/audit.ts'
import { printableLine } from '../domain/printable.ts'
import type { Given } from './command.ts'
import { formatCount, formatLimit, formatLocalTime } from './format.ts'
import { type LimitFlags, limitFields, nameFlags } from './push.ts'
import type { Shell } from './shell.ts'
import { fitColumns, separateByTabs } from './table.ts'
import { printJson, type Visit } from './visit.ts'

type Managing<F> = Given<F & { json: boolean }> & Visit

export async function expire({ client, urlToken, flags, shell }: Managing<unknown>): Promise<void> {
  const { body } = await client.expire(urlToken)
  if (flags.json) return printJson(body, shell)
  const { deleted, expiredOn } = parsePush(body)
  const when = expiredOn === null ? '' : ` on ${formatLocalTime(expiredOn)}`
  shell.print(deleted ? `Expired${when}; nobody can open it any more.` : `It had already expired${when}.`)
}

export async function edit({ client, urlToken, flags, shell }: Managing<LimitFlags>): Promise<void> {
  const { body } = await client.edit(urlToken, limitFields(flags)).catch((cause) => {
    throw nameFlags(cause)
  })
  if (flags.json) return printJson(body, shell)
  const { expired, expiredOn, viewsRemaining, ...left } = parsePush(body)
  const more = formatCount(viewsRemaining, 'more view')
  shell.print(
    expired
      ? `Changed. It expired${expiredOn === null ? '' : ` on ${formatLocalTime(expiredOn)}`}.`
      : `Changed. It expires after ${more} or ${formatLimit(left)}, whichever comes first.`,
  )
}

export async function audit(given: Managing<{ page: number | null }>): Promise<void> {
  const { client, urlToken, flags, shell } = given
  const page = flags.page ?? 1
  const { entries, answer } = await client.audit(urlToken, page)
  if (flags.json) return printJson(answer, shell)
  const rows = entries.map(({ at, kind, ip, referrer, userAgent }) =>
    [formatLocalTime(at), kind.replaceAll('_', ' '), ip, referrer || '-', userAgent || '-'].map(
      printableLine,
    ),
  )
  const none = 'There are no entries.'
  printTable(['TIME', 'WHAT', 'ADDRESS', 'REFERRER', 'PROGRAM'], { rows, page, none, stretch: 4, shell })
}

export async function list(given: Managing<{ page: number | null; expired: boolean }>): Promise<void> {
  const { client, flags, shell } = given
  const page = flags.page ?? 1
  const { pushes, leftOut, answer } = await client.list(flags.expired ? 'expired' : 'active', page)
  if (flags.json) return printJson(answer, shell)
  const none = flags.expired ? 'None of your pushes has expired.' : 'You have no active pushes.'
  const header = ['CREATED', 'KIND', 'NAME', flags.expired ? 'EXPIRED' : 'LEFT', 'LINK']
  if (leftOut > 0) shell.say(`Damaged on the server and not shown: ${leftOut}. The server's log names them.`)
  const shortLast = pushes.map(({ urlToken }) => urlToken)
  printTable(header, { rows: pushes.map(rowOf), shortLast, stretch: 2, leftOut, page, none, shell })
}

function rowOf(push: RemotePush): string[] {
  const { createdAt, kind, name, htmlUrl, urlToken, viewsRemaining, daysRemaining, expired, expiredOn } = push
  const left = `${formatCount(viewsRemaining, 'view')}, ${formatCount(daysRemaining, 'day')}`
  const state = expired ? formatLocalTime(expiredOn ?? '') || '-' : left
  return [formatLocalTime(createdAt), kind, name || '-', state, htmlUrl ?? urlToken].map(printableLine)
}

type Table = {
  rows: string[][]
  /** The column that a narrow terminal shortens. */
  stretch: number
  shortLast?: string[]
  leftOut?: number
  page: number
  none: string
  shell: Shell
}

/** Fits a terminal; programs get everything, separated by tabs. */
function printTable(header: string[], table: Table): void {
  const { rows, leftOut = 0, page, none, shell, ...fitting } = table
  const lines = shell.isOutputTerminal
    ? fitColumns(header, rows, { ...fitting, width: shell.width })
    : separateByTabs(header, rows)
  if (rows.length > 0) for (const line of lines) shell.print(line)
  else if (leftOut === 0) shell.say(page === 1 ? none : `There is nothing on page ${page}.`)
  if (rows.length + leftOut >= PAGE_SIZE && page < MAX_PAGE)
    shell.say(`There may be more: --page ${page + 1}.`)
}
