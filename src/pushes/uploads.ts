// Uploads: files sealed to disk as they arrive, before their push exists.

import { createDigest } from '../crypto/digest.ts'
import { newDataKey } from '../crypto/push-secrets.ts'
import { randomBase32 } from '../crypto/random.ts'
import { deriveFileKey, sealStream } from '../crypto/sealed-stream.ts'
import { DomainError, invalidFields } from '../domain/errors.ts'
import { cleanFilename, MAX_FILENAME_CHARACTERS, type StoredFile, safeContentType } from '../domain/files.ts'
import type { PushLimits } from '../domain/new-push.ts'
import type { Store } from '../store/contract.ts'
import { hasMoreCharacters } from '../text/text-length.ts'
import type { Relieve } from './relief.ts'

/** The fingerprint of a file as sent; `sha256` is that of its content, in hex. */
export type FilePrint = { filename: string; contentType: string; size: number; sha256: string }

type ReceivedFile = { id: string; isKept: boolean; file: StoredFile | null; print: FilePrint | null }

type Measure = { size: number; digest: Bun.CryptoHasher | null }

export type IncomingFile = { filename: string; contentType: string; content: AsyncIterable<Uint8Array> }

/** Encrypts the `n`th file, counted from 1. The result is stored in its place. */
export type EncryptFile = (file: IncomingFile, n: number) => IncomingFile

/** Returns whether it has entered the file in the store. */
type EnterFile = (fileId: string) => Promise<boolean>

type BeginOptions = { isFingerprinted?: boolean; encrypt?: EncryptFile | null }

/** The files of one request, and the data key of their future push. */
export type Upload = ReturnType<Uploads['begin']>
export type Uploads = ReturnType<typeof createUploads>

const ID_CHARACTERS = 26
/** How many bytes arrive between checks of the free space. */
const SPACE_CHECK_BYTES = 16 * 1024 * 1024

export type UploadsOptions = {
  store: Pick<Store, 'files' | 'freeSpace'>
  limits: Pick<PushLimits, 'files' | 'fileBytes'>
  relieve: Relieve
}

export function createUploads({ store, limits, relieve }: UploadsOptions) {
  /** The number of files being received. */
  let running = 0

  /**
   * Begins the upload of a request. `isFingerprinted` computes the SHA-256 of each file as it arrives, for
   * `listPrints`. Limits and fingerprints apply to what arrives, even if it is stored encrypted.
   */
  function begin({ isFingerprinted = false, encrypt = null }: BeginOptions = {}) {
    const dataKey = newDataKey()
    let isKept = true
    // Files in the order of their beginning. A small file may end before a larger one that began earlier.
    const begun: ReceivedFile[] = []

    /**
     * Seals the content to disk as it arrives. `enter` runs before its first byte. Throws `too_large`,
     * `invalid` or `disk_full`, and what `enter` throws.
     */
    async function add({ filename, contentType, content }: IncomingFile, enter?: EnterFile): Promise<void> {
      const name = checkName(filename)
      if (begun.length >= limits.files)
        throw invalidFields({ files: [{ code: 'too_many_files', limit: limits.files }] })
      const entry: ReceivedFile = { id: randomBase32(ID_CHARACTERS), isKept, file: null, print: null }
      begun.push(entry)
      const { id } = entry
      const counted = { size: 0, digest: isFingerprinted ? createDigest() : null }
      const arriving = { filename: name, contentType, content: count(content, counted) }
      const sealing = isKept && encrypt !== null ? encrypt(arriving, begun.length) : null
      const sealed = { size: 0 }
      const kept = sealing === null ? arriving.content : measure(sealing.content, sealed)
      running += 1
      await (isKept ? keep(id, kept, enter) : drain(kept)).finally(() => {
        running -= 1
      })
      const { filename: keptName, contentType: keptType } = sealing ?? arriving
      const { size } = sealing === null ? counted : sealed
      entry.file = { id, filename: keptName, contentType: safeContentType(keptType), size }
      entry.print = { filename, contentType, size: counted.size, sha256: counted.digest?.digest('hex') ?? '' }
    }

    async function keep(id: string, content: AsyncIterable<Uint8Array>, enter?: EnterFile): Promise<void> {
      await store.freeSpace.require()
      const isEntered = await enter?.(id)
      await store.files.keepFile(id, sealStream(content, { id, key: deriveFileKey(dataKey, id) }), isEntered)
    }

    function listFiles(): StoredFile[] {
      return begun.flatMap(({ file }) => file ?? [])
    }

    function listPrints(): FilePrint[] {
      return begun.flatMap(({ print }) => print ?? [])
    }

    async function* count(content: AsyncIterable<Uint8Array>, counted: Measure) {
      let checked = 0
      for await (const chunk of content) {
        counted.size += chunk.length
        if (counted.size > limits.fileBytes) throw tooLarge(limits.fileBytes)
        counted.digest?.update(chunk)
        if (isKept && counted.size - checked > SPACE_CHECK_BYTES) {
          checked = counted.size
          await store.freeSpace.require()
        }
        relieve(chunk.length)
        yield chunk
      }
    }

    /** Removes the files of an upload that became no push. */
    async function discard(): Promise<void> {
      const kept = begun.filter(({ isKept }) => isKept)
      await Promise.all(kept.map(({ id }) => store.files.giveUpFile(id)))
    }

    /** Stores no further files, only digests them: the request is a retry, whose files are compared. */
    function compareOnly(): void {
      isKept = false
    }

    return { dataKey, listFiles, listPrints, add, compareOnly, discard }
  }

  return { begin, countRunning: () => running }
}

async function* measure(content: AsyncIterable<Uint8Array>, measured: { size: number }) {
  for await (const chunk of content) {
    measured.size += chunk.length
    yield chunk
  }
}

async function drain(content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of content);
}

function checkName(filename: string): string {
  const name = cleanFilename(filename)
  if (!hasMoreCharacters(name, MAX_FILENAME_CHARACTERS)) return name
  throw invalidFields({ files: [{ code: 'filename_too_long', limit: MAX_FILENAME_CHARACTERS }] })
}

function tooLarge(bytes: number): DomainError {
  const limit = { of: 'file', bytes, flag: '--max-file-bytes' } as const
  const message = `A file may have at most ${bytes} bytes (${limit.flag} of the server raises this).`
  return new DomainError('too_large', message, { limit })
}
