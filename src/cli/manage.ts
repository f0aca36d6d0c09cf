// `oncebox expire`, `audit` and `list`: managing one's own pushes.

import type { Command } from 'commander'
import { parsePush, type RemotePush } from '../client/answers.ts'
import { MAX_PAGE, PAGE_SIZE } from '../domain/audit.ts'
import { printableLine } from '../domain/printable.ts'
import { wholeNumber } from '../settings/parsers.ts'
import { addClientCommand, type ClientParts, printJson } from './client-command.ts'
import { addTextFlag, textFlag } from './flags.ts'
import { formatCount, formatLocalTime } from './format.ts'
import type { Shell } from './shell.ts'
import { fitColumns, separateByTabs } from './table.ts'

const TOKEN = '7k3m9qx2vn4t8bw5hj6r0yzacd'

export function addExpireCommand(program: Command, parts: ClientParts): void {
  const { shell } = parts
  addClientCommand(program, {
    ...parts,
    name: 'expire',
    summary: 'expire a push now',
    help: 'Expires a push now and destroys its content: your own push, or one that its recipients may delete.',
    examples: `  oncebox expire https://once.example/p/${TOKEN}/r`,
    operands: ['LINK-OR-TOKEN'],
    work: async ({ client, urlToken }, command) => {
      const { body } = await client.expire(urlToken)
      if (command.getOptionValue('json') === true) return printJson(body, shell)
      const { deleted, expiredOn } = parsePush(body)
      const when = expiredOn === null ? '' : ` on ${formatLocalTime(expiredOn)}`
      shell.print(deleted ? `Expired${when}; nobody can open it any more.` : `It had already expired${when}.`)
    },
  }).option('--json', "Print the server's response")
}

export function addAuditCommand(program: Command, parts: ClientParts): void {
  const { shell } = parts
  const command = addClientCommand(program, {
    ...parts,
    name: 'audit',
    needsLogin: true,
    summary: 'show who opened one of your pushes, and when',
    help: `Shows the log of one of your pushes, oldest entries first, ${PAGE_SIZE} a page. Needs a login.`,
    examples: `  oncebox audit ${TOKEN}
  oncebox audit ${TOKEN} --page 2`,
    operands: ['LINK-OR-TOKEN'],
    problems: pageProblems,
    work: async ({ client, urlToken }, command) => {
      const page = pageOf(command)
      const { entries, answer } = await client.audit(urlToken, page)
      if (command.getOptionValue('json') === true) return printJson(answer, shell)
      const rows = entries.map(({ at, kind, ip, referrer, userAgent }) =>
        [formatLocalTime(at), kind.replaceAll('_', ' '), ip, referrer || '-', userAgent || '-'].map(
          printableLine,
        ),
      )
      printTable(['TIME', 'WHAT', 'ADDRESS', 'REFERRER', 'PROGRAM'], {
        rows,
        page,
        none: 'There are no entries.',
        stretch: 4,
        shell,
      })
    },
  })
  addPageFlags(command)
}

export function addListCommand(program: Command, parts: ClientParts): void {
  const { shell } = parts
  const command = addClientCommand(program, {
    ...parts,
    name: 'list',
    needsLogin: true,
    summary: 'list your pushes',
    help: `Lists your pushes that can still be opened, newest first, ${PAGE_SIZE} a page. Needs a login.`,
    examples: `  oncebox list
  oncebox list --expired --page 2`,
    problems: pageProblems,
    work: async ({ client }, command) => {
      const page = pageOf(command)
      const isExpired = command.getOptionValue('expired') === true
      const { pushes, leftOut, answer } = await client.list(isExpired ? 'expired' : 'active', page)
      if (command.getOptionValue('json') === true) return printJson(answer, shell)
      const none = isExpired ? 'None of your pushes has expired.' : 'You have no active pushes.'
      const header = ['CREATED', 'KIND', 'NAME', isExpired ? 'EXPIRED' : 'LEFT', 'LINK']
      if (leftOut > 0)
        shell.say(`Damaged on the server and not shown: ${leftOut}. The server's log names them.`)
      const shortLast = pushes.map(({ urlToken }) => urlToken)
      printTable(header, { rows: pushes.map(rowOf), shortLast, stretch: 2, leftOut, page, none, shell })
    },
  })
  command.option('--expired', 'List expired pushes instead')
  addPageFlags(command)
}

function rowOf(push: RemotePush): string[] {
  const { createdAt, kind, name, htmlUrl, urlToken, viewsRemaining, daysRemaining, expired, expiredOn } = push
  const left = `${formatCount(viewsRemaining, 'view')}, ${formatCount(daysRemaining, 'day')}`
  const state = expired ? formatLocalTime(expiredOn ?? '') || '-' : left
  return [formatLocalTime(createdAt), kind, name || '-', state, htmlUrl ?? urlToken].map(printableLine)
}

function addPageFlags(command: Command): void {
  addTextFlag(command, '--page <number>', `Page, from 1 to ${MAX_PAGE}`)
  command.option('--json', "Print the server's response")
}

function pageProblems(command: Command): string[] {
  const text = textFlag(command, 'page')
  const parsed = text === undefined ? null : parsePage(text)
  return parsed !== null && 'problem' in parsed ? [`--page ${JSON.stringify(text)}: ${parsed.problem}`] : []
}

function pageOf(command: Command): number {
  const parsed = parsePage(textFlag(command, 'page') ?? '1')
  return 'value' in parsed ? parsed.value : 1
}

const parsePage = wholeNumber('1', String(MAX_PAGE))

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
