// The doctor's deep checks: read every encrypted file to its end, decrypt what needs only the instance key,
// and list what cannot be checked. The database's structure was checked when it was opened.

import { existsSync } from 'node:fs'
import type { Keyring } from '../../crypto/keyring.ts'
import { openForAccount } from '../../crypto/sealed-field.ts'
import { sealedSize } from '../../crypto/sealed-stream.ts'
import { intactOrNull } from '../../domain/damage.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import { type Checks, fine, problem, type Verdict, warning } from '../../operating/health.ts'
import { openLabels } from '../../pushes/labels.ts'
import { bucketSettingsOf } from '../../settings/bucket.ts'
import { slicesOf } from '../../store/copy/all-rows.ts'
import { createDiskFiles } from '../../store/files/disk.ts'
import type { SealedFiles } from '../../store/files-contract.ts'
import { countPayloads, findBucketFolder, findFile, findRow } from '../../store/pushes/sealed-rows.ts'
import { openBucket } from '../../store/s3/bucket.ts'
import type { RowOf } from '../../store/statements.ts'
import type { Steps } from '../../store/steps.ts'
import { accounts, type pushes, pushFiles, pushLabels } from '../../store/tables.ts'
import type { DoctorTarget } from './place.ts'
import type { Rows } from './rows.ts'

const MIB = 1024 * 1024
/** The most faults that are listed; further ones are only counted. */
const MOST_TOLD = 20

export function createDeepChecks(place: DoctorTarget, { read, readKeys }: Rows): Checks {
  if (read === null)
    return { unchecked: () => warning('Nothing that is sealed was read, because the database cannot be.') }
  return {
    'sealed files': () => lookAtFiles(place, read),
    'sealed rows': async () => lookAtSealed(read, await readKeys().catch(() => null)),
    unchecked: () => tellUnchecked(place, read),
  }
}

type Open = SealedFiles['open']

async function lookAtFiles(place: DoctorTarget, read: Steps['read']): Promise<Verdict> {
  const open = await openFiles(place, read)
  const faults: string[] = []
  let [files, bytes] = [0, 0]
  for await (const some of slicesOf(pushFiles, read))
    for (const file of some) {
      const fault = await findFault(file, open)
      // The push may have ended meanwhile, which removes its files.
      if (fault !== null && (await read(() => findFile(file))) !== null)
        faults.push(`File ${file.n + 1} of push ${file.pushId} (${file.fileId}) ${fault}.`)
      files += 1
      bytes += file.size
    }
  const said = `Files of live pushes: ${files}, with ${Math.ceil(bytes / MIB)} MiB.`
  return judgeFaults(said, faults, {
    well: 'Each is there, has its length, and can be read to its end.',
    ill: 'Damaged',
  })
}

async function openFiles({ config, folder }: DoctorTarget, read: Steps['read']): Promise<Open> {
  const settings = bucketSettingsOf(config)
  if (settings === null)
    return existsSync(folder.files) ? createDiskFiles(folder.files).open : async () => null
  const tag = await read(findBucketFolder)
  if (tag === null) return async () => null
  return openBucket({ ...settings, tag, onWarning: () => undefined }).files.open
}

type StoredFile = { fileId: string; size: number }

/** Returns the fault of a file as the end of a sentence; null for an intact file. */
async function findFault({ fileId, size }: StoredFile, open: Open): Promise<string | null> {
  try {
    const file = await open(fileId)
    if (file === null) return 'is missing'
    await using closing = new AsyncDisposableStack()
    closing.defer(() => file.close())
    if (file.size !== sealedSize(size)) return `has ${file.size} bytes in place of ${sealedSize(size)}`
    for (let start = 0; start < file.size; start += MIB) {
      const length = Math.min(MIB, file.size - start)
      if ((await file.read({ start, length })).length < length) return `ends at byte ${start}, or before`
    }
    return null
  } catch (cause) {
    return `cannot be read: ${reasonOf(cause)}`
  }
}

async function lookAtSealed(read: Steps['read'], keyring: Keyring | null): Promise<Verdict> {
  if (keyring === null) return warning('Nothing was opened, because the key file cannot be used.')
  const faults: string[] = []
  let count = 0
  for await (const rows of slicesOf(pushLabels, read))
    for (const labels of rows) {
      count += 1
      const push = await read(() => findRow(labels.pushId))
      if (push !== null && !areLabelsWhole(labels, push, keyring))
        faults.push(`The link, name or note of push ${push.id}.`)
    }
  for await (const rows of slicesOf(accounts, read))
    for (const { id, totpSecret } of rows) {
      if (totpSecret === null) continue
      count += 1
      if (openForAccount(totpSecret, { accountId: id, field: 'totp', keyring }) === null)
        faults.push(`The second factor of account ${id}.`)
    }
  const words = { well: 'Each opens with the instance key.', ill: 'Not opened by the instance key' }
  return judgeFaults(`Pushes of accounts, and second factors: ${count}.`, faults, words)
}

function judgeFaults(
  said: string,
  faults: readonly string[],
  { well, ill }: { well: string; ill: string },
): Verdict {
  if (faults.length === 0) return fine(`${said} ${well}`)
  const more = faults.length - MOST_TOLD
  const told = [...faults.slice(0, MOST_TOLD), ...(more > 0 ? [`And ${more} more.`] : [])].join(' ')
  return problem(`${said} ${ill}: ${faults.length}. ${told}`, 'See docs/damage.md.')
}

function areLabelsWhole(
  labels: RowOf<typeof pushLabels>,
  { id, lookup, ownerId }: RowOf<typeof pushes>,
  keyring: Keyring,
): boolean {
  const place = { keyring, pushId: lookup, ownerId, pushName: `push ${id}` }
  return intactOrNull(() => openLabels(labels, place)) !== null
}

async function tellUnchecked({ config }: DoctorTarget, read: Steps['read']): Promise<Verdict> {
  const payloads = await read(countPayloads)
  const rows = config.databaseUrl === null ? '' : ' Nor were the pages of PostgreSQL: see pg_amcheck.'
  return fine(
    `Not checked: payloads (${payloads}) and the contents of files, which only their links open.${rows}`,
  )
}
