// What is said of a move: what would be moved, what was copied, and what to do now.

import type { MoveReport, MoveWish } from '../app/moving/wish.ts'
import { formatCount, formatSize } from './format.ts'

const MAX_TOLD = 20

/** Before the question whether it is confirmed, nothing is said of what to do now. */
export function presentCopy(report: MoveReport): string[] {
  return [
    ...headOf(report),
    ...contentOf(report),
    ...listed('Damaged in the source, and left out', 'Damaged in the source', report),
  ]
}

export function presentMove(report: MoveReport, wish: MoveWish): string[] {
  return [...presentCopy(report), ...needsOf(report), ...adviceOf(report, wish)]
}

function headOf({ state, from, to }: MoveReport): string[] {
  if (state === 'planned') return [`Would move from ${from} to ${to}:`]
  if (state === 'copied') return [`Copied from ${from} to ${to}, and compared:`]
  return [`Moved from ${from} to ${to}.`]
}

function contentOf({ counts, files, keyFile, compared }: MoveReport): string[] {
  if (counts.pushes + counts.accounts + counts.entries === 0 && compared === null) return []
  const { accounts, pushes, live, entries } = counts
  const held = files ?? { count: counts.files, bytes: counts.bytes }
  return [
    `  ${formatCount(accounts, 'account')}, ${formatCount(pushes, 'push', 'pushes')} (${live} live) with ${formatCount(entries, 'entry', 'entries')} in their logs`,
    `  ${formatCount(held.count, 'file')} (${formatSize(held.bytes)})`,
    ...(keyFile === null ? [] : [`  instance key: ${keyFile}`]),
  ]
}

function listed(left: string, found: string, { state, damaged }: MoveReport): string[] {
  if (damaged.length === 0) return []
  const more = damaged.length > MAX_TOLD ? [`  and ${damaged.length - MAX_TOLD} more`] : []
  const title = state === 'planned' ? found : left
  return [
    `${title} (${damaged.length}):`,
    ...damaged.slice(0, MAX_TOLD).map((place) => `  ${place}`),
    ...more,
  ]
}

function needsOf({ needs }: MoveReport): string[] {
  return needs.length === 0 ? [] : ['Still needed:', ...needs.map((need) => `  ${need}`)]
}

function adviceOf(report: MoveReport, wish: MoveWish): string[] {
  const { state, from, to } = report
  if (state === 'planned') return ['Nothing was changed.']
  if (state === 'copied')
    return isFilesAlone(wish)
      ? ['Not confirmed yet: nothing was changed. Run the same command with --confirm while no server runs.']
      : [
          `Not confirmed yet: ${from} still works, and ${to} refuses to be served. Start no server on either, and run the same ` +
            'command with --confirm.',
        ]
  return [`Start the server ${flagsOf(report, wish)} from now on.`, leftOf(report, wish)]
}

function leftOf({ from, isDestroyed }: MoveReport, wish: MoveWish): string {
  if (isDestroyed) return `What ${from} held is destroyed.`
  if (isFilesAlone(wish)) return `The files in ${from} are not used any more: remove them there.`
  return (
    `No server starts on ${from} any more, but it still opens everything with its key: once you have seen that all is well, run ` +
    'the same command with --destroy-source.'
  )
}

function isFilesAlone({ from, to }: MoveWish): boolean {
  return JSON.stringify(from) === JSON.stringify(to)
}

/** The flags that a server needs now. */
function flagsOf({ to, keyFile }: MoveReport, wish: MoveWish): string {
  const place =
    wish.to.kind === 'folder'
      ? `--data-dir ${wish.to.path}`
      : `--database-url (${isFilesAlone(wish) ? 'as before' : to})`
  return [
    `with ${place}`,
    ...(wish.toDataDir === null ? [] : [`--data-dir ${wish.toDataDir}`]),
    ...(wish.keyFile === null || keyFile === null ? [] : [`--key-file ${keyFile}`]),
    wish.toBucket === null ? 'and without --files-url' : 'and --files-url',
  ].join(' ')
}
