// Files in a JSON body: `{filename, content_type?, data}` with `data` in base64.

import { ANY_TYPE } from '../../domain/files.ts'
import type { Fields } from './fields.ts'

export type JsonFile = { filename: string; contentType: string; data: Buffer }

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** What cannot be read is blamed on `files`, once. */
export function readJsonFiles(fields: Fields): JsonFile[] {
  const entries = fields.given('files')
  if (entries === null) return []
  const files = Array.isArray(entries) ? entries.map(readEntry) : [null]
  const read = files.filter((file) => file !== null)
  if (read.length < files.length) fields.blame('files', { code: 'not_files' })
  return read
}

function readEntry(entry: unknown): JsonFile | null {
  if (typeof entry !== 'object' || entry === null) return null
  const { filename, content_type: contentType, data } = entry as Record<string, unknown>
  if (typeof filename !== 'string' || typeof data !== 'string' || !BASE64.test(data)) return null
  return {
    filename,
    contentType: typeof contentType === 'string' ? contentType : ANY_TYPE,
    data: Buffer.from(data, 'base64'),
  }
}
