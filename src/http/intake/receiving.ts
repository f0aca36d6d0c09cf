// Receives a new push, or an answer to a request: reads the body, stores its files, checks the fields. The
// API and the forms of the pages share this.

import { Readable } from 'node:stream'
import type { Viewer } from '../../domain/audit.ts'
import { invalidFields, isDomainError } from '../../domain/errors.ts'
import { type NewPush, type PushLimits, payloadProblem } from '../../domain/new-push.ts'
import type { Problems } from '../../domain/problems.ts'
import type { Exchange } from '../door/exchange.ts'
import type { BodyLimits } from './body.ts'
import { blameUnsealed, createEndToEndNote, readIsSealed } from './end-to-end.ts'
import { createFields, type Fields, isGiven, type Wire } from './members.ts'
import type { FilePart } from './multipart.ts'
import { type PushBodyOptions, readPushFields } from './push-body.ts'
import { createParsePush, createPushTable, type NewPushOptions, requireFilesAllowed } from './push-input.ts'

/** Stores the files of one request. */
type FileSink = {
  add(file: FilePart): Promise<void>
  /** Compares further files with those of an earlier request instead of storing them. */
  compareOnly(): void
  /**
   * Sets whether the files are end-to-end, as soon as that is known. Refuses later files that do not match.
   */
  expect(isEndToEnd: boolean): void
  /** Sets whether the files are end-to-end, after all have arrived. Throws `invalid` if they do not match. */
  settle(isEndToEnd: boolean): Promise<void>
  listFiles(): readonly unknown[]
  /** Removes the stored files, if no push is created. */
  discard(): Promise<void>
}

/** `isFingerprinted`: whether to digest the contents of files, to compare them with an earlier request. */
type Begin<Sink> = (options: { isFingerprinted: boolean }) => Sink

export type ReceivedPush<Sink> = { push: NewPush; upload: Sink }

export type PushSubmission = Pick<PushBodyOptions, 'wrappers' | 'isLenient' | 'onPart' | 'isCheckedLater'> & {
  exchange: Exchange
  viewer: Viewer
  isFingerprinted: boolean
  /**
   * Whether an earlier request created this push. If so, files are compared, not stored. Called before each
   * file is read.
   */
  isRepeat: () => boolean | Promise<boolean>
  /** Called for each file of a multipart body. Passes it to `store`, or discards it. */
  onFile?: (file: FilePart, store: StoreFile) => Promise<void>
  /** Replaces the members that were sent, before they are checked. */
  revise?: (wire: Wire) => RevisedPush
}

export type StoreFile = (file: FilePart) => Promise<void>

export type RevisedPush = { wire: Wire } & Pick<
  NewPushOptions,
  'duration' | 'showsSender' | 'namesRecipient' | 'problems'
>

type ReceiveOptions = { limits: PushLimits; body: BodyLimits }

type Options<Sink> = ReceiveOptions & { uploads: { begin: Begin<Sink> } }

export function createReceivePush<Sink extends FileSink>(options: Options<Sink>) {
  const { uploads, limits, body } = options
  const parsePush = createParsePush(limits)
  const readNote = createEndToEndNote(limits)

  /** Resolves to the result of `create`. Discards the stored files if anything throws. */
  async function receive<T>(
    incoming: PushSubmission,
    create: (received: ReceivedPush<Sink>) => Promise<T>,
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
    const onPart = (name: string, value: unknown) => {
      const isEndToEnd = readNote(name, value)
      if (isEndToEnd !== null) upload.expect(isEndToEnd)
      incoming.onPart?.(name, value)
    }
    try {
      const { wrappers, isLenient, isCheckedLater } = incoming
      const reading = { ...body, wrappers, isLenient, isCheckedLater, onFile, onPart }
      const given = revise(await readPushFields(exchange, reading))
      const received = upload.listFiles().length
      const { push, files } = parsePush(given.wire, { ...given, viewer, received })
      upload.expect(push.encryptedBy === 'sender')
      for (const { data, ...file } of files) await add({ ...file, content: Readable.from([data]) })
      await upload.settle(push.encryptedBy === 'sender')
      return await create({ push, upload })
    } catch (cause) {
      return discardAfter(upload, cause)
    }
  }

  return receive
}

function asSent(wire: Wire): RevisedPush {
  return { wire }
}

/** Receives an answer. requests/answering.ts says what each function throws. */
type AnswerSink = {
  request: { acceptsText: boolean; acceptsFiles: boolean; recipient: string | null }
  upload: FileSink
  admit(passphrase: string | null): Promise<void>
  addFile(file: FilePart, passphrase: string | null): Promise<void>
  complete(answer: { payload: string; isEndToEnd: boolean }): Promise<void>
}

/** The members of an answer; the reference shows them. */
export function createAnswerTable(limits: PushLimits) {
  const { payload, files, passphrase, end_to_end } = createPushTable(limits)
  return { payload, files, passphrase, end_to_end }
}

type AnswerSubmission = {
  exchange: Exchange
  sink: AnswerSink
  /** The passphrase, if it is not in the body. */
  passphrase?: string | null
  /** Called after each part of a multipart body has been read, even if a later part fails. */
  onPart?: (name: string, value: unknown) => void
}

export function createReceiveAnswer({ limits, body }: ReceiveOptions) {
  const table = createAnswerTable(limits)
  const readNote = createEndToEndNote(limits)

  /** Resolves once the answer has arrived. Discards the stored files if anything throws. */
  async function receive({ exchange, sink, passphrase = null, onPart }: AnswerSubmission): Promise<void> {
    const { upload } = sink
    let given = passphrase
    const add = async (file: FilePart) => {
      requireAsked(sink, limits)
      await sink.addFile(file, given)
    }
    const note = (name: string, value: unknown) => {
      if (name === 'push[passphrase]' && typeof value === 'string' && value !== '') given ??= value
      const isEndToEnd = readNote(name, value)
      if (isEndToEnd !== null) upload.expect(isEndToEnd)
      onPart?.(name, value)
    }
    try {
      const options = { ...body, wrappers: ['push'], plain: 'payload', onFile: add, onPart: note }
      const wire = await readPushFields(exchange, options)
      const fields = createFields(table, wire)
      given = passphrase ?? fields.read('passphrase')
      if (fields.problems.passphrase === undefined) await sink.admit(given)
      const files = fields.read('files') ?? []
      const payload = fields.read('payload') ?? ''
      const received = { payload, files: upload.listFiles().length + files.length }
      const others = Object.keys(wire).filter((name) => !Object.hasOwn(table, name) && isGiven(wire[name]))
      const judged = createFields(table, wire)
      judge(judged, { ...received, ...sink.request, limits })
      const isEndToEnd = readIsSealed(judged, limits)
      if (isEndToEnd && sink.request.recipient === null) judged.blame('end_to_end', { code: 'not_asked' })
      if (isEndToEnd) blameUnsealed(judged, payload)
      const problems = { ...judged.problems, ...fields.problems, ...problemsOfOthers(others) }
      if (Object.keys(problems).length > 0) throw invalidFields(problems)
      upload.expect(isEndToEnd)
      for (const { data, ...file } of files) await add({ ...file, content: Readable.from([data]) })
      await upload.settle(isEndToEnd)
      await sink.complete({ payload, isEndToEnd })
    } catch (cause) {
      await discardAfter(upload, cause)
    }
  }

  return receive
}

/** Throws `invalid` if the request accepts no files. Call it before a file is read. */
function requireAsked({ request }: AnswerSink, limits: PushLimits): void {
  if (!request.acceptsFiles) throw invalidFields({ files: [{ code: 'not_asked_list' }] })
  if (!limits.kinds.has('file')) throw invalidFields({ files: [{ code: 'files_disabled' }] })
}

type AnswerContent = AnswerSink['request'] & { payload: string; files: number; limits: PushLimits }

/** Notes the problems of an answer that does not fit the request. */
function judge(
  { blame }: Pick<Fields<Record<'payload' | 'files', unknown>>, 'blame'>,
  { payload, files, ...asked }: AnswerContent,
): void {
  const isBlank = payload.trim() === ''
  const problem = payloadProblem(files === 0 ? 'text' : 'file', payload, asked.limits)
  if (isBlank && files === 0) blame(asked.acceptsText ? 'payload' : 'files', { code: 'blank' })
  else if (problem !== null) blame('payload', problem)
  if (!isBlank && !asked.acceptsText) blame('payload', { code: 'not_asked' })
  if (files > 0 && !asked.acceptsFiles) blame('files', { code: 'not_asked_list' })
}

/** Maximum number of members that a refusal names. */
const NAMED = 20

/** Notes a problem for each member that only pushes have, such as limits: for answers the owner sets them. */
function problemsOfOthers(others: readonly string[]): Problems {
  const names = others.slice(0, NAMED).map((name) => (/^(?!error$)[a-z]\w{0,40}$/.test(name) ? name : 'push'))
  return Object.fromEntries(names.map((name) => [name, [{ code: 'no_member' }]]))
}

/** Removes the stored files of an upload that has failed, and throws the cause. */
async function discardAfter(upload: Pick<FileSink, 'discard'>, cause: unknown): Promise<never> {
  // If the full disk prevents cleanup now, the next start does it.
  const discarded = upload.discard().catch(() => undefined)
  // Do not wait: a database that timed out may not answer now either, and the client has waited long enough.
  if (!isDomainError(cause, 'overloaded')) await discarded
  throw cause
}
