// Decrypts answers that a server encrypted for an age key: armored text, and files, each in a ZIP of its own.

import type { IdentityFile } from '../backup/sealing.ts'
import { createOwnFile } from '../client/own-files.ts'
import { printableLine } from '../text/printable.ts'
import type { Shell } from './shell.ts'

export type AgeKeys = Awaited<ReturnType<typeof readAgeKeys>>

/** Reads secret keys from identity files. Throws `conflict` for a file without keys. */
export async function readAgeKeys(files: readonly IdentityFile[], shell: Shell) {
  // Loaded only when needed: most commands decrypt nothing.
  const { armor, Decrypter } = await import('age-encryption')
  const { addIdentities } = await import('../backup/sealing.ts')
  const decrypter = new Decrypter()
  for (const file of files) addIdentities(decrypter, file)

  async function writeContent(from: string, to: string): Promise<string> {
    const zip = await decrypter.decrypt(Bun.file(from).stream())
    await using file = await createOwnFile(to)
    const name = await readStoredFile(zip, (bytes) => file.writeFile(bytes))
    await file.sync()
    return name
  }

  let failures = 0
  /** Reports a failure and resolves to null instead of throwing, because the view is already spent. */
  async function orReport(what: string, opening: () => Promise<string>): Promise<string | null> {
    try {
      return await opening()
    } catch (cause) {
      failures += 1
      shell.say(`oncebox: ${what}: ${whyNot(cause)} Here it is, still encrypted.`)
      return null
    }
  }

  return {
    openText: (text: string) =>
      orReport('the text', async () => decrypter.decrypt(armor.decode(text), 'text')),
    /** Writes the content to a new file. Returns the name inside. */
    openFile: ({ name, from, to }: { name: string; from: string; to: string }) =>
      orReport(name, () => writeContent(from, to)),
    /** Returns how many times something could not be decrypted. */
    failures: () => failures,
  }
}

function whyNot(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (message.startsWith('no identity matched')) return 'none of your keys can decrypt it.'
  return `it cannot be decrypted: ${printableLine(message)}.`
}

/** Sizes of the parts of a ZIP, without names (APPNOTE 6.3.10, 4.3). */
const HEADER = { bytes: 30, signature: 0x04034b50 }
const LISTED = { bytes: 46, signature: 0x02014b50 }
const END = { bytes: 22, signature: 0x06054b50 }
/** The end of a large archive has two more parts, of 56 and 20 bytes. */
const LARGE_END = { bytes: 76, signature: 0x06064b50 }
const LARGE = 0xffff_ffff
/** More bytes than the parts after the content can have, with a name of any length. */
const MAX_TAIL_BYTES = 2 ** 18

/** Writes the content of the only file of a ZIP as it is read. Returns its name. Throws for any other ZIP. */
async function readStoredFile(
  zip: AsyncIterable<Uint8Array>,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<string> {
  let name: string | null = null
  let written = 0
  let held: Buffer = Buffer.alloc(0)
  const writeSome = async (bytes: number) => {
    await write(held.subarray(0, bytes))
    written += bytes
    held = held.subarray(bytes)
  }
  for await (const piece of zip) {
    held = Buffer.concat([held, piece])
    if (held.length <= MAX_TAIL_BYTES) continue
    if (name === null) [name, held] = takeHeader(held)
    await writeSome(Math.max(0, held.length - MAX_TAIL_BYTES))
  }
  if (name === null) [name, held] = takeHeader(held)
  const rest = sizeInTail(held) - written
  if (rest < 0 || rest > held.length) throw strange()
  await writeSome(rest)
  return name
}

/** Returns the file's name, and the bytes after its header. */
function takeHeader(zip: Buffer): [name: string, rest: Buffer] {
  if (zip.length < HEADER.bytes || zip.readUInt32LE(0) !== HEADER.signature) throw strange()
  const nameEnd = HEADER.bytes + zip.readUInt16LE(26)
  const isStored = zip.readUInt16LE(8) === 0
  if (!isStored) throw strange()
  return [zip.toString('utf8', HEADER.bytes, nameEnd), zip.subarray(nameEnd + zip.readUInt16LE(28))]
}

/** Returns the file's size from its entry in the central directory at the end. */
function sizeInTail(zip: Buffer): number {
  const end = zip.length - END.bytes
  if (end < LISTED.bytes || zip.readUInt32LE(end) !== END.signature) throw strange()
  const large = end - LARGE_END.bytes
  const hasLargeEnd = large >= 0 && zip.readUInt32LE(large) === LARGE_END.signature
  const listed = (hasLargeEnd ? large : end) - zip.readUInt32LE(end + 12)
  if (listed < 0 || zip.readUInt32LE(listed) !== LISTED.signature) throw strange()
  const size = zip.readUInt32LE(listed + 24)
  // ZIP64: a large size comes first in the extra field, after its type and length.
  const extra = listed + LISTED.bytes + zip.readUInt16LE(listed + 28)
  return size === LARGE ? Number(zip.readBigUInt64LE(extra + 4)) : size
}

function strange(): Error {
  return new Error('it does not hold one file, as a server writes it')
}
