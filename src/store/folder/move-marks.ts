// Marks in a data folder that is the one end of a move: it is not complete yet, or everything was moved away from it.

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DomainError } from '../../domain/errors.ts'
import { formatTime } from '../../domain/time.ts'
import type { MovedAway, MoveState } from '../moving-face.ts'
import { createClosedFile } from './closed-file.ts'
import { syncFolder } from './sync-folder.ts'

const NOTE = 'Oncebox wrote this while it moved data. Leave it here.'

const stateOf = (path: string) => join(path, 'moving.json')
const awayOf = (path: string) => join(path, 'moved.json')

/** The names of both marks. */
export const MARKS = [stateOf('.'), awayOf('.')]

/** Throws `conflict` when the folder is the end of a move that is not confirmed, or when everything was moved away. */
export function requireNotMoved(path: string): void {
  const away = readMovedAway(path)
  if (away !== null)
    throw new DomainError(
      'conflict',
      `Everything in ${path} was moved to ${away.to} at ${formatTime(away.at)}: start the server there. This folder is not ` +
        'used any more; once you have seen that all is well there, remove it.',
    )
  const state = readMoveState(path)
  if (state === null) return
  const remedy = `run "oncebox move" again${state.state === 'copied' ? ' with --confirm' : ''}`
  const what = state.state === 'copied' ? 'confirmed' : 'complete'
  throw new DomainError(
    'conflict',
    `A move from ${state.source} into ${path} is not ${what}: ${remedy}. To give it up, remove ${path}; the source still works.`,
  )
}

/** Null when nothing is being moved into the folder. */
export function readMoveState(path: string): MoveState | null {
  const found = read(stateOf(path))
  if (found === null) return null
  const { id, state, source, sourceMark } = found
  if (isText(id) && isText(source) && isText(sourceMark) && (state === 'copying' || state === 'copied'))
    return { id, state, source, sourceMark }
  throw unreadable(stateOf(path))
}

/** Null unless everything was moved away. */
export function readMovedAway(path: string): MovedAway | null {
  const found = read(awayOf(path))
  if (found === null) return null
  const { id, to, at, isSettled } = found
  if (isText(id) && isText(to) && typeof at === 'number') return { id, to, at, isSettled: isSettled === true }
  throw unreadable(awayOf(path))
}

/** Survives a power cut, as all marks do. */
export async function writeMoveState(path: string, state: MoveState): Promise<void> {
  await write(stateOf(path), state)
}

export async function writeMovedAway(path: string, away: MovedAway): Promise<void> {
  await write(awayOf(path), away)
}

/** The folder can be served from now on. */
export function forgetMoveState(path: string): void {
  rmSync(stateOf(path), { force: true })
  syncFolder(path)
}

async function write(path: string, content: object): Promise<void> {
  await createClosedFile(path).write(`${JSON.stringify({ note: NOTE, ...content }, null, 2)}\n`)
}

function read(path: string): Record<string, unknown> | null {
  if (!existsSync(path)) return null
  try {
    const found: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof found === 'object' && found !== null) return { ...found }
  } catch {
    // Told below.
  }
  throw unreadable(path)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function unreadable(path: string): DomainError {
  return new DomainError(
    'conflict',
    `The mark ${path} of a move is damaged, so that it cannot be said which of two places holds the data now. Look at the other ` +
      'end of the move; remove the mark only if nothing was confirmed there.',
  )
}
