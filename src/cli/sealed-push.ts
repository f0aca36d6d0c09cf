// Encrypts a push before it leaves this computer: end-to-end, for the key in its link or for recipients.

import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { PlainFile } from '../age/sealing.ts'
import { fileUpload, type UploadFile } from '../client/upload.ts'
import type { Shell } from './shell.ts'

export type PushSealer = Awaited<ReturnType<typeof createPushSealer>>

/**
 * Creates a sealer. Without recipients it makes a key, which exists only in the link that `addKey` returns.
 */
export async function createPushSealer(to: readonly string[], shell: Shell) {
  // Loaded only when needed: most pushes are not encrypted here.
  const { newKey } = await import('../age/keys.ts')
  const { sealFile, sealText } = await import('../age/sealing.ts')
  const key = to.length === 0 ? await newKey() : null
  const recipients = key === null ? to : [key.recipient]
  let folder: string | null = null
  const remove = () => {
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', remove)

  const seal = (file: PlainFile) => sealFile(file, recipients)

  /** Encrypts a file to disk, so that a retry can send the same bytes. */
  async function sealToDisk(path: string, position: PlainFile['position']): Promise<UploadFile> {
    folder ??= mkdtempSync(join(tmpdir(), 'oncebox-'))
    const { size, mtimeMs } = statSync(path)
    const sealed = join(folder, `${position?.n}.age`)
    const progress = shell.startProgress('Encrypting', () => 'cancelled; nothing was sent')
    let done = 0
    async function* content() {
      for await (const bytes of fileUpload({ path, filename: '', size }).read()) {
        done += bytes.length
        progress.update(done, size)
        yield bytes
      }
    }
    const bytes = await seal({ name: basename(path), content: content(), at: mtimeMs, position })
    const written = pipeline(Readable.from(bytes), createWriteStream(sealed, { flags: 'wx', mode: 0o600 }))
    await written.finally(progress.stop)
    return fileUpload({ path: sealed, filename: basename(sealed), size: statSync(sealed).size })
  }

  /** Encrypts a stream while it is sent, which can happen only once. */
  function sealOnce({ filename, read }: UploadFile, position: FileNumber): UploadFile {
    async function* sealed() {
      const file = { name: filename, content: read(), at: shell.now(), position }
      yield* await seal(file)
    }
    return { filename: `${position.n}.age`, size: null, read: sealed }
  }

  return {
    /** The fields by which the server learns of the encryption. */
    fields: { end_to_end: true, key_check: key?.keyCheck ?? null },
    recipients: to.length,
    sealText: (text: string): Promise<string> => sealText(text, recipients),
    /** `path` is null for a stream. */
    sealFile: (upload: UploadFile, path: string | null, position: FileNumber): Promise<UploadFile> =>
      path === null ? Promise.resolve(sealOnce(upload, position)) : sealToDisk(path, position),
    addKey: (link: string): string => (key === null ? link : `${link}#${key.linkKey}`),
    [Symbol.dispose]: (): void => {
      process.off('exit', remove)
      remove()
    },
  }
}

type FileNumber = NonNullable<PlainFile['position']>
