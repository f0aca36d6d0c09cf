// Files of a push: their names, their types, and how long a download may take to begin.

import { MINUTE } from './time.ts'

/** What is known of a file; `size` in bytes. */
export type FileFacts = { filename: string; contentType: string; size: number }

/** A file as it lies sealed in the store. */
export type StoredFile = FileFacts & { id: string }

export const MAX_FILENAME_CHARACTERS = 255
const UNNAMED = 'file'
const MIB = 1024 * 1024

/** Types that a browser shows or saves without running anything. */
const SAFE_TYPES = new Set([
  'application/gzip',
  'application/json',
  'application/pdf',
  'application/zip',
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

export const ANY_TYPE = 'application/octet-stream'

export function safeContentType(claimed: string): string {
  const type = claimed.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return SAFE_TYPES.has(type) ? type : ANY_TYPE
}

/** Without folders, control characters and marks that reverse the direction of writing. */
export function cleanFilename(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? ''
  const clean = last.toWellFormed().replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '')
  return clean.trim() === '' || clean === '.' || clean === '..' ? UNNAMED : clean
}

/** Milliseconds that a grant for a file of so many bytes is valid: ten minutes, and one for each 64 MiB. */
export function grantLifetime(size: number): number {
  return (10 + Math.floor(size / (64 * MIB))) * MINUTE
}
