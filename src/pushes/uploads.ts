// Uploads: files sealed to disk as they arrive, before their push exists.

import { createDigest } from '../crypto/digest.ts'
import { newDataKey } from '../crypto/push-secrets.ts'
import { randomBase32 } from '../crypto/random.ts'
import {
  deriveFileKey,
  openSegment,
  sealStream,
  segmentCount,
  segmentPosition,
} from '../crypto/sealed-stream.ts'
import { AGE_INTRO, beginsAsAge } from '../domain/age-armour.ts'
import { DamageError, DomainError, invalidFields } from '../domain/errors.ts'
import {
  ANY_TYPE,
  cleanFilename,
  MAX_FILENAME_CHARACTERS,
  type StoredFile,
  safeContentType,
} from '../domain/files.ts'
import type { PushLimits } from '../domain/new-push.ts'
import type { Store } from '../store/contract.ts'
import { hasMoreCharacters } from '../text/text-length.ts'
import type { Relieve } from './relief.ts'

/** The fingerprint of a file as sent; `sha256` is that of its content, in hex. */
export type FilePrint = { filename: string; contentType: string; size: number; sha256: string }

type ReceivedFile = {
  id: string
  isKept: boolean
  file: StoredFile | null
  print: FilePrint | null
  /** Whether its content is an age file. */
  isAge: boolean
  /** Whether it is stored as it arrived, and not encrypted. */
  isRaw: boolean
}

type Measure = { size: number; digest: Bun.CryptoHasher | null }

export type IncomingFile = { filename: string; contentType: string; content: AsyncIterable<Uint8Array> }

/** Encrypts the `n`th file, counted from 1. The result is stored in its place. */
export type EncryptFile = (file: IncomingFile, n: number) => IncomingFile

/** Runs before the first byte of a file. Resolves to whether it has recorded the file in the store. */
type EnterFile = (fileId: string) => Promise<boolean>

type Arrival = { arriving: IncomingFile; n: number; enter?: EnterFile | undefined }

type BeginOptions = { isFingerprinted?: boolean; encrypt?: EncryptFile | null }

/** The files of one request, and the data key of their future push. */
export type Upload = ReturnType<Uploads['begin']>
export type Uploads = ReturnType<typeof createUploads>

const ID_CHARACTERS = 26
/** How many bytes may arrive between two checks of the free space. */
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
   * `listPrints`. Limits and fingerprints apply to the received bytes, even if the file is encrypted for
   * storage.
   */
  function begin({ isFingerprinted = false, encrypt = null }: BeginOptions = {}) {
    const dataKey = newDataKey()
    let isKept = true
    let isEndToEnd: boolean | null = null
    // Files in the order in which they began. A small file may be complete before a larger one that began
    // earlier.
    const begun: ReceivedFile[] = []

    /**
     * Seals the content to disk as it arrives. `enter` runs before its first byte. Throws `too_large`,
     * `invalid` or `disk_full`, and what `enter` throws.
     */
    async function add({ filename, contentType, content }: IncomingFile, enter?: EnterFile): Promise<void> {
      const name = checkName(filename)
      if (begun.length >= limits.files)
        throw invalidFields({ files: [{ code: 'too_many_files', limit: limits.files }] })
      const id = randomBase32(ID_CHARACTERS)
      const entry: ReceivedFile = { id, isKept, file: null, print: null, isAge: false, isRaw: true }
      begun.push(entry)
      const counted = { size: 0, digest: isFingerprinted ? createDigest() : null }
      const arriving = { filename: name, contentType, content: count(content, counted) }
      await storeAs(entry, { arriving, n: begun.length, enter })
      entry.print = { filename, contentType, size: counted.size, sha256: counted.digest?.digest('hex') ?? '' }
    }

    /** Stores a file as it arrives, encrypted if this upload encrypts. */
    async function storeAs(entry: ReceivedFile, { arriving, n, enter }: Arrival): Promise<void> {
      let stored = arriving
      let size = 0
      async function* kept() {
        const { first, rest } = await lookInto(arriving.content)
        entry.isAge = beginsAsAge(first)
        if (isEndToEnd === true && !entry.isAge) throw notEncrypted()
        // The sender may still declare it end-to-end: `settle` decides.
        entry.isRaw = !entry.isKept || encrypt === null || (entry.isAge && isEndToEnd !== false)
        const passed = { ...arriving, content: rest }
        stored = entry.isRaw || encrypt === null ? passed : encrypt(passed, n)
        for await (const chunk of stored.content) {
          size += chunk.length
          yield chunk
        }
      }
      running += 1
      await (entry.isKept ? keep(entry.id, kept(), enter) : drain(kept())).finally(() => {
        running -= 1
      })
      const { filename, contentType } = stored
      entry.file = { id: entry.id, filename, contentType: safeContentType(contentType), size }
    }

    async function keep(id: string, content: AsyncIterable<Uint8Array>, enter?: EnterFile): Promise<void> {
      await store.freeSpace.require()
      const isEntered = await enter?.(id)
      await store.files.keepFile(id, sealStream(content, { id, key: deriveFileKey(dataKey, id) }), isEntered)
    }

    /**
     * Records whether the files are end-to-end. Before that, the content of each file decides how it is
     * stored.
     */
    function expect(said: boolean): void {
      isEndToEnd = said
    }

    /**
     * Sets whether the files are end-to-end, once all have arrived. If they are, names each by its number,
     * and throws `invalid` unless each is an age file. If not, encrypts the age files that were stored as
     * received.
     */
    async function settle(said: boolean): Promise<void> {
      isEndToEnd = said
      if (said && begun.some(({ isAge }) => !isAge)) throw notEncrypted()
      for (const [index, entry] of begun.entries()) {
        const { file } = entry
        if (file === null) continue
        if (said) entry.file = { ...file, filename: `${index + 1}.age`, contentType: ANY_TYPE }
        else if (encrypt !== null && entry.isRaw && entry.isKept) await sealAgain(entry, file, index + 1)
      }
    }

    async function sealAgain(entry: ReceivedFile, file: StoredFile, n: number): Promise<void> {
      const { id } = entry
      entry.id = randomBase32(ID_CHARACTERS)
      await storeAs(entry, { arriving: { ...file, content: readBack(file) }, n }).finally(() =>
        store.files.giveUpFile(id),
      )
    }

    async function* readBack({ id, size }: StoredFile): AsyncGenerator<Uint8Array> {
      const opened = await store.files.open(id)
      if (opened === null) throw damaged(id)
      const last = segmentCount(size) - 1
      const sealed = { id, key: deriveFileKey(dataKey, id) }
      try {
        for (let index = 0; index <= last; index += 1) {
          const bytes = await opened.read(segmentPosition(index, size))
          const plain = openSegment(bytes, sealed, { index, isLast: index === last })
          if (plain === null) throw damaged(id)
          yield plain
        }
      } finally {
        await opened.close()
      }
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

    return { dataKey, listFiles, listPrints, add, expect, settle, compareOnly, discard }
  }

  return { begin, countRunning: () => running }
}

/**
 * Reads as many bytes as the first line of an age file has. `rest` yields the whole content, including them.
 */
async function lookInto(content: AsyncIterable<Uint8Array>) {
  const pieces = content[Symbol.asyncIterator]()
  let first: Uint8Array = Buffer.alloc(0)
  while (first.length < AGE_INTRO.length) {
    const { done, value } = await pieces.next()
    if (done === true) break
    first = first.length === 0 ? value : Buffer.concat([first, value])
  }
  async function* all() {
    if (first.length > 0) yield first
    yield* { [Symbol.asyncIterator]: () => pieces }
  }
  return { first, rest: all() }
}

async function drain(content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of content);
}

function checkName(filename: string): string {
  const name = cleanFilename(filename)
  if (!hasMoreCharacters(name, MAX_FILENAME_CHARACTERS)) return name
  throw invalidFields({ files: [{ code: 'filename_too_long', limit: MAX_FILENAME_CHARACTERS }] })
}

function notEncrypted(): DomainError {
  return invalidFields({ files: [{ code: 'not_encrypted_list' }] })
}

function damaged(id: string): DamageError {
  return new DamageError(`the file ${id} of an upload`)
}

function tooLarge(bytes: number): DomainError {
  const limit = { of: 'file', bytes, flag: '--max-file-bytes' } as const
  const message = `A file may have at most ${bytes} bytes (${limit.flag} of the server raises this).`
  return new DomainError('too_large', message, { limit })
}
