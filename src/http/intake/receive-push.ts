// Receives a new push: reads the body, stores its files, checks the fields. The API and the form of the pages share this.

import { Readable } from 'node:stream'
import type { Viewer } from '../../domain/audit.ts'
import { isDomainError } from '../../domain/errors.ts'
import type { NewPush, PushLimits } from '../../domain/new-push.ts'
import type { Exchange } from '../door/exchange.ts'
import type { BodyLimits } from './body.ts'
import type { Wire } from './members.ts'
import type { FilePart } from './multipart.ts'
import { type PushBodyOptions, readPushFields } from './push-body.ts'
import { createParsePush, type NewPushOptions, requireFilesAllowed } from './push-input.ts'

/** Where the files of one request go. */
export type FileSink = {
  add(file: FilePart): Promise<void>
  /** From now on files are compared with those of an earlier request, not stored. */
  compareOnly(): void
  listFiles(): readonly unknown[]
  /** Removes what was stored, when no push comes of it. */
  discard(): Promise<void>
}

/** `isFingerprinted`: whether the contents of files are digested, to compare them with an earlier request. */
type Begin<Sink> = (options: { isFingerprinted: boolean }) => Sink

export type Received<Sink> = { push: NewPush; upload: Sink }

export type Incoming = Pick<PushBodyOptions, 'wrappers' | 'isLenient' | 'onPart'> & {
  exchange: Exchange
  viewer: Viewer
  isFingerprinted: boolean
  /** Whether an earlier request made this push. If so, files are compared, not stored. Called before each file is read. */
  isRepeat: () => boolean | Promise<boolean>
  /** Called for each file of a multipart body. Stores it with `store`, or reads it to its end itself. */
  onFile?: (file: FilePart, store: StoreFile) => Promise<void>
  /** Replaces the members that were sent, before they are checked. */
  revise?: (wire: Wire) => Revised
}

export type StoreFile = (file: FilePart) => Promise<void>

export type Revised = { wire: Wire } & Pick<NewPushOptions, 'duration' | 'showsSender' | 'problems'>

type Options<Sink> = { uploads: { begin: Begin<Sink> }; limits: PushLimits; body: BodyLimits }

export function createReceivePush<Sink extends FileSink>(options: Options<Sink>) {
  const { uploads, limits, body } = options
  const parsePush = createParsePush(limits)

  /** Resolves to the result of `create`. Discards the stored files if anything throws. */
  async function receive<T>(
    incoming: Incoming,
    create: (received: Received<Sink>) => Promise<T>,
  ): Promise<T> {
    const { exchange, viewer, isRepeat, revise = asSent } = incoming
    const upload = uploads.begin({ isFingerprinted: incoming.isFingerprinted })
    const add = async (file: FilePart) => {
      if (await isRepeat()) upload.compareOnly()
      return upload.add(file)
    }
    const store: StoreFile = (file) => {
      requireFilesAllowed(viewer, limits)
      return add(file)
    }
    const { onFile: take = (file) => store(file) } = incoming
    const onFile = async (file: FilePart) => take(file, store)
    try {
      const given = revise(await readPushFields(exchange, { ...incoming, ...body, onFile }))
      const received = upload.listFiles().length
      const { push, files } = parsePush(given.wire, { viewer, received, ...given })
      for (const { data, ...file } of files) await add({ ...file, content: Readable.from([data]) })
      return await create({ push, upload })
    } catch (cause) {
      return discardAfter(upload, cause)
    }
  }

  return receive
}

/** Removes the stored files of an upload that has failed, and throws the cause. */
export async function discardAfter(upload: Pick<FileSink, 'discard'>, cause: unknown): Promise<never> {
  // If the full disk prevents cleanup now, the next start does it.
  const discarded = upload.discard().catch(() => undefined)
  // A database that did not answer in time may not answer now either, and the client has waited long enough.
  if (!isDomainError(cause, 'overloaded')) await discarded
  throw cause
}

function asSent(wire: Wire): Revised {
  return { wire }
}
