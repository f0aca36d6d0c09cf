// Fills the create form with what the system shares with the installed app. Stores nothing.

import { ANY_TYPE } from '../../../domain/files.ts'
import { type BodyLimits, streamBody, tooLarge } from '../../../http/intake/body.ts'
import { type FilePart, readMultipart } from '../../../http/intake/multipart.ts'
import type { Guest } from '../../frame/guest.ts'
import { SHARED } from '../../frame/manifest.ts'
import { completeWebAddress } from './web-address.ts'

/** Shared files are held in memory and in the page, so larger ones have to be chosen in the form. */
const MAX_FILE_BYTES = 16 * 1024 * 1024

type SharedFile = { name: string; type: string; content: string }

/** The fields of the form, and the files in base64 for the script of the page. */
export type Shared = { fields: Readonly<Record<string, string>>; files: readonly SharedFile[] }

/** Reads what was shared. Throws `malformed`, `unsupported_type`, `too_large`, `too_slow` or `overloaded`. */
export async function readShared({ exchange }: Guest, body: BodyLimits): Promise<Shared> {
  const { maxBytes, limit, take, timeoutMs } = body
  let left = MAX_FILE_BYTES
  const readFile = async ({ filename, contentType, content }: FilePart): Promise<SharedFile> => {
    const pieces: Uint8Array[] = []
    for await (const piece of content) {
      left -= piece.length
      if (left < 0) throw tooLarge({ maxBytes: MAX_FILE_BYTES, limit: null })
      // Reserve memory for the base64 files in the page as well.
      take(exchange, 3 * piece.length)
      pieces.push(piece)
    }
    return { name: filename, type: contentType, content: Buffer.concat(pieces).toString('base64') }
  }
  const files: SharedFile[] = []
  const parts = await readMultipart(
    streamBody(exchange, { timeoutMs, maxStreamBytes: maxBytes + MAX_FILE_BYTES }),
    {
      contentType: exchange.request.headers.get('content-type') ?? '',
      maxTextBytes: maxBytes,
      limit,
      take: (bytes) => take(exchange, bytes),
      onFile: async (file) => files.push(await readFile(file)),
    },
  )
  const textOf = (name: string) => {
    const value = parts.find((part) => part.name === name)?.value
    return typeof value === 'string' ? value.replaceAll('\r\n', '\n').trim() : ''
  }
  return {
    fields: fieldsOf({ title: textOf(SHARED.title), text: textOf(SHARED.text), url: textOf(SHARED.url) }),
    files: files.filter(({ name, content }) => name !== '' || content !== ''),
  }
}

/**
 * Returns the form fields. Systems put a URL into `url` or into `text`, alone or after other text. The title
 * becomes the name.
 */
function fieldsOf({ title, text, url }: { title: string; text: string; url: string }) {
  const payload = [text, url].filter((part) => part !== '').join('\n') || title
  const link = /^https?:\/\/\S+$/i.test(payload) ? completeWebAddress(payload) : ''
  return link === '' ? { kind: 'text', payload, name: title } : { kind: 'url', link, name: title }
}

/** Embeds the files for the script, which puts them into the form. The page is never cached. */
export function SharedFiles({ files }: { files: readonly SharedFile[] }) {
  return files.map(({ name, type, content }) => (
    <data hidden value={content} data-shared-file={name} data-type={type || ANY_TYPE} />
  ))
}
