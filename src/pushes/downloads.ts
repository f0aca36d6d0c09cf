// Downloads by grant. A grant works until it ends, or until its push is deleted or expires by time. The time
// is checked when a download begins; a deletion also aborts running downloads.

import type { Keyring } from '../crypto/keyring.ts'
import { openJson, sealJson } from '../crypto/sealed-field.ts'
import { deriveFileKey } from '../crypto/sealed-stream.ts'
import { DomainError } from '../domain/errors.ts'
import {
  ARCHIVE_NAME,
  ARCHIVE_TYPE,
  type FileFacts,
  grantLifetime,
  type StoredFile,
} from '../domain/files.ts'
import { NODES_APART } from '../domain/time.ts'
import type { StoredPush } from '../store/pushes-contract.ts'
import { safeFilenames } from '../text/safe-filename.ts'
import { type ArchiveEntry, archiveSize, readArchive } from './archive.ts'
import {
  createGrantedFiles,
  type FileOfPush,
  type GrantedFilesOptions,
  type ReadableFile,
} from './granted-files.ts'

export type GrantedDownload = FileFacts &
  ReadableFile & {
    /**
     * Identifies the exact bytes. Null for an archive, which is generated for each download and can only be
     * read whole.
     */
    id: string | null
  }

/**
 * The content of a grant. It is in the URL, so that the server stores nothing readable about it. `until`:
 * milliseconds since 1970.
 */
type PushGrant = Pick<FileOfPush, 'push'> & { until: number }

type FileOfGrant = Omit<FileOfPush, 'push'> & { filename: string }

type FileGrant = PushGrant & FileOfGrant & { contentType: string }

/** A grant for several files of a push in one archive, in this order and under these names. */
type ArchiveGrant = PushGrant & { files: FileOfGrant[] }

const PLACE = { subkey: 'grants', subject: new Uint8Array(), field: 'grant' } as const

/** A sealed grant; downloads may begin until `until`. */
type SealedGrant = { grant: string; until: number }

export type GrantedFile = StoredFile & SealedGrant

/** The archive of all files of a push, or of as many as fit into one URL. `size` is the archive's. */
export type GrantedArchive = SealedGrant & { files: number; size: number }

/** The files that a counted view has opened. */
export type ViewedFiles = {
  push: StoredPush
  dataKey: Uint8Array
  files: readonly StoredFile[]
  viewedAt: number
}

export type Downloads = ReturnType<typeof createDownloads>

export type DownloadsOptions = GrantedFilesOptions & { keyring: Keyring }

/** The most bytes for the files in a grant: proxies refuse URLs above 8 KiB, and encoding adds a third. */
const MAX_GRANT_BYTES = 4500

export function createDownloads({ keyring, ...options }: DownloadsOptions) {
  const { now } = options
  const { openFile, findPush } = createGrantedFiles(options)

  /** Returns a grant for each file, and archives of all if there are several. */
  function grantAll(viewed: ViewedFiles): { files: GrantedFile[]; archives: GrantedArchive[] } {
    const granted = viewed.files.map((file) => ({ file, grant: grantFor(file, viewed) }))
    const seal = (grant: FileGrant | ArchiveGrant): SealedGrant => ({
      grant: sealJson(grant, keyring, PLACE),
      until: Math.min(grant.until, viewed.push.expiresAt),
    })
    return {
      files: granted.map(({ file, grant }) => ({ ...file, ...seal(grant) })),
      archives: archivesOf(granted.map(({ grant }) => grant)).map((archive) => ({
        ...seal(archive),
        files: archive.files.length,
        size: archiveSize(archive.files),
      })),
    }
  }

  /**
   * Opens a download. Throws `forbidden` for an altered or expired grant, and `not_found` for a destroyed
   * file.
   */
  async function open(text: string): Promise<GrantedDownload> {
    const grant = openJson<FileGrant | ArchiveGrant>(text, keyring, PLACE)
    if (grant === null) throw new DomainError('forbidden', 'This download link is not valid.')
    if (now() >= grant.until || grant.until > now() + longestLifeOf(grant))
      throw new DomainError('forbidden', 'This download link has run out; retrieve the push again.')
    return 'files' in grant ? openArchive(grant) : openOne(grant)
  }

  async function openOne(grant: FileGrant): Promise<GrantedDownload> {
    const { file: id, filename, contentType, size } = grant
    return { id, filename, contentType, size, ...(await openFile(grant)) }
  }

  /**
   * Opens all files first, so that a missing file refuses the archive at once, and a file that is removed
   * later can still be read.
   */
  async function openArchive({ push, files }: ArchiveGrant): Promise<GrantedDownload> {
    const { createdAt } = await findPush(push)
    const entries: ArchiveEntry[] = []
    const close = async () => {
      await Promise.all(entries.map(({ content }) => content.close()))
    }
    try {
      for (const file of files) entries.push({ ...file, content: await openFile({ ...file, push }) })
    } catch (cause) {
      await close()
      throw cause
    }
    const facts = { filename: ARCHIVE_NAME, contentType: ARCHIVE_TYPE, size: archiveSize(files) }
    return { id: null, ...facts, read: () => readArchive(entries, createdAt), close }
  }

  return { grantAll, open }
}

/**
 * Returns the longest time that a valid grant can have left. One with more was made while the clock was
 * ahead.
 */
function longestLifeOf(grant: FileGrant | ArchiveGrant): number {
  const sizes = 'files' in grant ? grant.files.map(({ size }) => size) : [grant.size]
  return Math.max(...sizes.map(grantLifetime)) + NODES_APART
}

function grantFor(file: StoredFile, { push, dataKey, viewedAt }: ViewedFiles): FileGrant {
  const { id, filename, contentType, size } = file
  const key = Buffer.from(deriveFileKey(dataKey, id)).toString('base64')
  const until = viewedAt + grantLifetime(size)
  return { push: Buffer.from(push.lookup).toString('hex'), file: id, key, filename, contentType, size, until }
}

/**
 * Returns the archive grants; none for a single file. An archive's grant ends with the first grant of its
 * files.
 */
function archivesOf(grants: readonly FileGrant[]): ArchiveGrant[] {
  if (grants.length < 2) return []
  const names = safeFilenames(
    grants.map(({ filename }) => filename),
    { platform: 'win32' },
  )
  const archives: ArchiveGrant[] = []
  let room = 0
  for (const [at, { push, file, key, filename, size, until }] of grants.entries()) {
    const entry: FileOfGrant = { file, key, filename: names[at] ?? filename, size }
    const bytes = Buffer.byteLength(JSON.stringify(entry)) + 1
    const last = archives.at(-1)
    if (last === undefined || bytes > room) {
      archives.push({ push, until, files: [entry] })
      room = MAX_GRANT_BYTES - bytes
      continue
    }
    last.files.push(entry)
    last.until = Math.min(last.until, until)
    room -= bytes
  }
  return archives
}
