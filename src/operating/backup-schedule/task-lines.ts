// Reads the lines of task.ts, which are JSON of this same program: what does not fit is left out.

import {
  type BackupOrder,
  type BackupTask,
  FAILURE_CODES,
  type TaskAnswer,
  type TaskDone,
  type TaskFailure,
} from './task.ts'

/** Null for what is no task. */
export function parseTask(line: string): BackupTask | null {
  const read = parseObject(line)
  const { folder, mayMakeFolder, dataDir, known, begun, make } = {
    ...{ folder: null, mayMakeFolder: false, dataDir: null, known: null, begun: null, make: null },
    ...read,
  }
  if (typeof folder !== 'string' || typeof dataDir !== 'string') return null
  const order = make === null ? null : parseOrder(make)
  if (make !== null && order === null) return null
  return {
    ...{ folder, dataDir, mayMakeFolder: mayMakeFolder === true, make: order },
    known: parseFiles(known),
    begun: parseTexts(begun),
  }
}

function parseOrder(read: unknown): BackupOrder | null {
  const { name, recipients, keep, keyFile, tlsAuthorityKey, minFreeSpace } = {
    ...{ name: null, recipients: null, keep: null, keyFile: null, tlsAuthorityKey: null, minFreeSpace: null },
    ...objectOf(read),
  }
  if (typeof name !== 'string' || typeof keep !== 'number' || typeof minFreeSpace !== 'number') return null
  const paths = { keyFile: textOr(keyFile), tlsAuthorityKey: textOr(tlsAuthorityKey) }
  return { name, keep, minFreeSpace, ...paths, recipients: parseTexts(recipients) }
}

/** Null for what is no answer, such as a line of somebody else. */
export function parseAnswer(line: string): TaskAnswer | null {
  const read = { state: '', ...parseObject(line) }
  const { state } = read
  if (state === 'working') return { state }
  if (state === 'failed') return { state, ...parseFailure(read) }
  return state === 'done' ? { state, ...parseDone(read) } : null
}

function parseFailure(read: object): TaskFailure {
  const { code, words } = { code: '', words: '', ...read }
  return { code: FAILURE_CODES.find((known) => known === code) ?? 'other', words: String(words) }
}

function parseDone(read: object): TaskDone {
  const { present, removed, notRemoved, isSameDisk, damage } = {
    ...{ present: null, removed: null, notRemoved: null, isSameDisk: false, damage: null },
    ...read,
  }
  return {
    present: parseFiles(present),
    removed: parseTexts(removed),
    notRemoved: textOr(notRemoved),
    isSameDisk: isSameDisk === true,
    damage: parseTexts(damage),
  }
}

function parseObject(line: string): object {
  try {
    return objectOf(JSON.parse(line))
  } catch {
    return {}
  }
}

function objectOf(read: unknown): object {
  return typeof read === 'object' && read !== null ? read : {}
}

function textOr(read: unknown): string | null {
  return typeof read === 'string' ? read : null
}

function parseTexts(read: unknown): string[] {
  return Array.isArray(read) ? read.filter((item) => typeof item === 'string') : []
}

function parseFiles(read: unknown): { name: string; bytes: number }[] {
  if (!Array.isArray(read)) return []
  return read.flatMap((item) => {
    const { name, bytes } = { name: null, bytes: null, ...objectOf(item) }
    return typeof name === 'string' && typeof bytes === 'number' ? [{ name, bytes }] : []
  })
}
