// Downloads by grant: who holds one may read its file until it ends, or the push was deleted or ran out of time. Time is
// looked at when a download begins; a deletion also breaks off those that are running.

import { type Grant, openGrant, sealGrant } from '../../crypto/download-grant.ts'
import type { Keyring } from '../../crypto/keyring.ts'
import {
  deriveFileKey,
  HEADER_BYTES,
  isHeader,
  openSegment,
  SEGMENT_BYTES,
  sealedSize,
  segmentCount,
  segmentPosition,
} from '../../crypto/sealed-stream.ts'
import { DamageError, DomainError } from '../../domain/errors.ts'
import { type FileFacts, grantLifetime, type StoredFile } from '../../domain/files.ts'
import type { Now } from '../../domain/time.ts'
import type { Store, StoredPush } from '../../store/face.ts'
import type { OpenedFile } from '../../store/files-face.ts'
import type { Relieve } from './relief.ts'

/** Bytes from `start` up to, not including, `end`. */
export type Span = { start: number; end: number }

export type Download = FileFacts & {
  id: string
  /** Authenticated plain bytes, a segment at a time; the caller closes. Throws when the file was altered. */
  read(span: Span): AsyncGenerator<Uint8Array>
  close(): Promise<void>
}

export type Downloads = ReturnType<typeof createDownloads>

export type DownloadsOptions = {
  store: Pick<Store, 'files' | 'pushes' | 'damage'>
  keyring: Keyring
  now: Now
  relieve: Relieve
}

export function createDownloads({ store, keyring, now, relieve }: DownloadsOptions) {
  /** For the files of a push that has just been viewed. */
  function grant(
    file: StoredFile,
    options: { lookup: Uint8Array; dataKey: Uint8Array; viewedAt: number },
  ): string {
    const { lookup, dataKey, viewedAt } = options
    const { id, filename, contentType, size } = file
    const key = Buffer.from(deriveFileKey(dataKey, id)).toString('base64')
    const push = Buffer.from(lookup).toString('hex')
    return sealGrant(
      { push, file: id, key, filename, contentType, size, until: viewedAt + grantLifetime(size) },
      keyring,
    )
  }

  /** Throws `forbidden` for an altered or lapsed grant, `not_found` for a file that was destroyed. */
  async function open(text: string): Promise<Download> {
    const found = openGrant(text, keyring)
    if (found === null) throw new DomainError('forbidden', 'This download link is not valid.')
    if (now() >= found.until)
      throw new DomainError('forbidden', 'This download link has run out; retrieve the push again.')
    const name = `a file of push ${(await findPush(found)).id}`
    const file = await store.files.open(found.file)
    if (file === null) throw (await isLost(found)) ? new DamageError(name) : notFound()
    await requireIntact(file, { ...found, name })
    return present({ ...found, name }, file)
  }

  /** Whether a file is missing though its push is live. The file of an expired push may have been removed meanwhile. */
  async function isLost(grant: Grant): Promise<boolean> {
    return (await findPush(grant)).expiredOn === null
  }

  function present(grant: NamedGrant, file: OpenedFile): Download {
    const sealed = { id: grant.file, key: Buffer.from(grant.key, 'base64') }
    const { filename, contentType, size } = grant

    async function* read({ start, end }: Span): AsyncGenerator<Uint8Array> {
      const last = segmentCount(size) - 1
      for (let index = Math.floor(start / SEGMENT_BYTES); index * SEGMENT_BYTES < end; index += 1) {
        await requireNotDeleted(grant)
        const plain = openSegment(await file.read(segmentPosition(index, size)), sealed, {
          index,
          isLast: index === last,
        })
        if (plain === null) throw altered(grant.name)
        relieve(plain.length)
        const from = index * SEGMENT_BYTES
        yield plain.subarray(Math.max(0, start - from), Math.min(plain.length, end - from))
      }
    }

    return { id: grant.file, filename, contentType, size, read, close: () => file.close() }
  }

  /** Throws `not_found` once the push was deleted or ran out of time. */
  async function findPush(grant: Grant): Promise<StoredPush> {
    const push = await requireNotDeleted(grant)
    if (push.expiresAt <= now()) throw notFound()
    return push
  }

  /** A last view leaves the files to its grants; a deletion ends those at once. */
  async function requireNotDeleted({ push: lookup }: Grant): Promise<StoredPush> {
    const push = await store.pushes.findPush(Buffer.from(lookup, 'hex'))
    if (push === null || push.deleted) throw notFound()
    return push
  }

  /** The answer is on its way: it can only be broken off. Told here, since nobody else could. */
  function altered(name: string): DamageError {
    const cause = new DamageError(name)
    store.damage.tell(cause)
    return cause
  }

  return { grant, open }
}

function notFound(): DomainError {
  return new DomainError('not_found', 'not-found')
}

/** `name` tells the operator what it is. */
type NamedGrant = Grant & { name: string }

/** Checks what no segment authenticates: the header and the length. Throws, and then closes the file. */
async function requireIntact(file: OpenedFile, { size, name }: NamedGrant): Promise<void> {
  try {
    const header = await file.read({ start: 0, length: HEADER_BYTES })
    if (!isHeader(header) || file.size !== sealedSize(size)) throw new DamageError(name)
  } catch (cause) {
    await file.close()
    throw cause
  }
}
