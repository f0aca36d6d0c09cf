// Puts one file into the bucket as its bytes arrive: whole when it fits into one part, else part after part.

import { MINUTE } from '../../domain/time.ts'
import { type Cut, cutUp } from './cutting.ts'
import { isFailure, S3Failure } from './failures.ts'
import type { Objects, Part } from './objects.ts'
import type { PartBuffers } from './part-buffers.ts'

export type UploadingOptions = {
  objects: Objects
  buffers: PartBuffers
  /** Milliseconds that storing may take once the last byte has arrived. */
  patience: number
  /** Is told of an unfinished upload that has to go. */
  onBroken: (upload: { key: string; uploadId: string }) => void
  /** Uploads under way, which the sweep must leave alone. */
  running: Set<string>
}

export type Upload = (key: string, bytes: AsyncIterable<Uint8Array>) => Promise<void>

/** The longest that a store may take to join the parts of a file, while it answers other requests. */
const JOINING_MS = 15 * MINUTE
const LOOK_EVERY_MS = 2_000
const END = () => 'ended' as const

export function createUpload(options: UploadingOptions): Upload {
  const { objects, buffers, patience } = options

  return async (key, bytes) => {
    let size = 0
    let parts: ReturnType<typeof createParts> | null = null
    try {
      for await (const cut of cutUp(bytes, buffers)) {
        size += cut.length
        if (cut.isLast && parts === null) await putWhole(key, cut)
        else {
          parts = parts ?? createParts(key, options)
          await parts.add(cut)
        }
      }
      if (parts !== null) await parts.complete(size)
    } catch (cause) {
      parts?.breakOff()
      throw cause
    }
  }

  async function putWhole(key: string, { buffer, length }: Cut): Promise<void> {
    const by = performance.now() + patience
    try {
      await objects.put(key, buffer.subarray(0, length), { by })
    } finally {
      buffers.giveBack(buffer)
    }
    await requireLength(objects, { key, size: length, by })
  }
}

/** The parts of one file. One is sent while the next one fills. */
function createParts(key: string, { objects, buffers, patience, onBroken, running }: UploadingOptions) {
  const done: Part[] = []
  let uploadId: string | null = null
  let sending: Promise<void> = Promise.resolve()
  let number = 0
  /** By when all must be over; unknown while bytes arrive. */
  let by: number | undefined

  async function add(cut: Cut): Promise<void> {
    if (cut.isLast) by = performance.now() + patience
    try {
      await sending
      uploadId = uploadId ?? (await begin())
    } catch (cause) {
      buffers.giveBack(cut.buffer)
      throw cause
    }
    number += 1
    sending = send(cut, { number, uploadId })
    // A failure is thrown by the next part or the end.
    sending.catch(() => undefined)
  }

  async function begin(): Promise<string> {
    const begun = await objects.beginUpload(key)
    running.add(begun)
    return begun
  }

  async function send({ buffer, length }: Cut, part: { number: number; uploadId: string }): Promise<void> {
    const body = buffer.subarray(0, length)
    const until = by === undefined ? {} : { by }
    try {
      done.push(await objects.putPart({ key, uploadId: part.uploadId }, part.number, body, until))
    } finally {
      buffers.giveBack(buffer)
    }
  }

  async function complete(size: number): Promise<void> {
    await sending
    if (uploadId === null) throw new Error('an upload ended before it began')
    await join({ key, uploadId }).catch(async (cause) => {
      // The answer may be lost though the file is whole: its length decides.
      const found = await objects.measure(key, { by: soon(), isFollowUp: true }).catch(() => null)
      if (found !== size) throw cause
    })
    await requireLength(objects, { key, size, by: performance.now() + patience })
    running.delete(uploadId)
  }

  /** Some stores copy all parts while they join them: this waits as long as the store answers other requests. */
  async function join(upload: { key: string; uploadId: string }): Promise<void> {
    const silence = new AbortController()
    const once = JOINING_MS
    const by = performance.now() + once
    const joining = objects.completeUpload(upload, done, { by, once, signal: silence.signal })
    const ended = joining.then(END, END)
    while ((await Promise.race([ended, Bun.sleep(LOOK_EVERY_MS)])) !== 'ended') {
      const isSilent = await objects.measure(key, { by: soon(), isFollowUp: true }).then(
        () => false,
        (cause) => isFailure(cause, 'failing'),
      )
      if (isSilent) silence.abort()
    }
    await joining
  }

  /** For a look whether the store answers at all. */
  function soon(): number {
    return performance.now() + patience / 2
  }

  /** Hands the upload over for removal, after the part that is being sent. */
  function breakOff(): void {
    if (uploadId === null) return
    const broken = { key, uploadId }
    void sending.catch(() => undefined).finally(() => onBroken(broken))
  }

  return { add, complete, breakOff }
}

type Expected = { key: string; size: number; by: number }

/** A push may name a file only when all of it is there. */
async function requireLength(objects: Objects, { key, size, by }: Expected): Promise<void> {
  const found = await objects.measure(key, { by })
  if (found !== size)
    throw new S3Failure('failing', `it kept ${found ?? 'nothing'} of ${size} bytes of a file`)
}
