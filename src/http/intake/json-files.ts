// Files in a JSON body: `{filename, content_type?, data}` with `data` in base64.

import { type ArrayOptions, Type } from 'typebox'
import { ANY_TYPE, MAX_FILENAME_CHARACTERS } from '../../domain/files.ts'
import type { BodyMember } from './members.ts'

export type JsonFile = { filename: string; contentType: string; data: Buffer }

/**
 * Base64 of a text whose length is a multiple of four. A pattern of repeated groups of four needs 180 MB for
 * 6 MB of text.
 */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

const BASE64_PATTERN = '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'
const BASE64_SCHEMA = { format: 'byte', pattern: BASE64_PATTERN, description: 'base64' }

const jsonFile = (maxBytes: number) =>
  Type.Object(
    {
      filename: Type.String({ maxLength: MAX_FILENAME_CHARACTERS }),
      content_type: Type.Optional(Type.String()),
      data: Type.String({ ...BASE64_SCHEMA, maxLength: 4 * Math.ceil(maxBytes / 3) }),
    },
    { description: 'A file, within the size of a JSON body. Larger ones go as multipart/form-data.' },
  )

/** Reads the well-formed entries. Notes a single problem for all others. */
export function filesInJson(maxBytes: number, options: ArrayOptions): BodyMember<JsonFile[]> {
  return {
    schema: Type.Array(jsonFile(maxBytes), options),
    read: (value, blame) => {
      const files = Array.isArray(value) ? value.map(readEntry) : [null]
      const read = files.filter((file) => file !== null)
      if (read.length < files.length) blame({ code: 'not_files' })
      return read
    },
  }
}

function readEntry(entry: unknown): JsonFile | null {
  if (typeof entry !== 'object' || entry === null) return null
  const { filename, content_type: contentType, data } = entry as Record<string, unknown>
  if (typeof filename !== 'string' || typeof data !== 'string') return null
  if (data.length % 4 !== 0 || !BASE64.test(data)) return null
  return {
    filename,
    contentType: typeof contentType === 'string' ? contentType : ANY_TYPE,
    data: Buffer.from(data, 'base64'),
  }
}
