// Files of a push: names, content types, and how long download grants are valid.

import { MINUTE } from './time.ts'

/** A file's name, type and size in bytes. */
export type FileFacts = { filename: string; contentType: string; size: number }

/** A file that is sealed in the store. */
export type StoredFile = FileFacts & { id: string }

export const MAX_FILENAME_CHARACTERS = 255
const UNNAMED = 'file'
const MIB = 1024 * 1024

export const ANY_TYPE = 'application/octet-stream'
export const ARCHIVE_TYPE = 'application/zip'
/** The name of an archive. It omits the name of the push, which only the owner may see. */
export const ARCHIVE_NAME = 'oncebox-files.zip'

/** Types that a browser shows or saves without running code. */
const SAFE_TYPES = new Set([
  'application/gzip',
  'application/json',
  'application/pdf',
  ARCHIVE_TYPE,
  'audio/mpeg',
  'audio/ogg',
  'audio/wav',
  'image/gif',
  'image/jpeg',
  'image/png',
  'image/webp',
  'text/csv',
  'text/plain',
  'video/mp4',
  'video/webm',
])

export function safeContentType(claimed: string): string {
  const type = claimed.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return SAFE_TYPES.has(type) ? type : ANY_TYPE
}

/** Removes folders, control characters and marks that change the direction of text. */
export function cleanFilename(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? ''
  const clean = last.toWellFormed().replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '')
  return clean.trim() === '' || clean === '.' || clean === '..' ? UNNAMED : clean
}

/** Returns how long a grant is valid, in milliseconds: ten minutes, plus one for each 64 MiB of the file. */
export function grantLifetime(size: number): number {
  return (10 + Math.floor(size / (64 * MIB))) * MINUTE
}
