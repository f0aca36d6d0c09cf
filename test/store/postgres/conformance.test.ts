// PostgreSQL with files on a disk and in a bucket, tested with the guarantees of every engine.

import { afterAll, beforeAll, describe, test } from 'bun:test'
import { openTestBucket, type TestBucket } from '../../support/bucket.ts'
import { openCrashingNode } from '../../support/postgres-crashes.ts'
import { openPostgresEngine } from '../../support/postgres-store.ts'
import { usePostgres } from '../../support/use-postgres.ts'
import { describeAccounts } from '../conformance/accounts.ts'
import { describeClock } from '../conformance/clock.ts'
import { describeCrashes } from '../conformance/crashes.ts'
import type { OpenedEngine } from '../conformance/engine.ts'
import { describeEvents } from '../conformance/events.ts'
import { describeFilesOfPushes } from '../conformance/files.ts'
import { describeLists } from '../conformance/lists.ts'
import { describeOutbox } from '../conformance/outbox.ts'
import { describeOwners } from '../conformance/owners.ts'
import { describePeople } from '../conformance/people.ts'
import { describePushes } from '../conformance/pushes.ts'
import { describeRequests } from '../conformance/requests.ts'

const postgres = usePostgres()
let bucket: TestBucket
beforeAll(async () => {
  bucket = await openTestBucket()
})
afterAll(() => bucket.close())

async function openEngine(): Promise<OpenedEngine> {
  return openPostgresEngine(await postgres.newDatabase())
}

async function openWithBucket(): Promise<OpenedEngine> {
  return openPostgresEngine(await postgres.newDatabase(), { bucket: bucket.settings })
}

postgres.describe('PostgreSQL', () => {
  test('opens an empty database, and reopens it with its tables', async () => {
    const opened = await openEngine()
    await opened.reopen()
    await opened.close()
  })

  describe('accounts', () => describeAccounts(openEngine))
  describe('events', () => describeEvents(openEngine))
  describe('the outbox', () => describeOutbox(openEngine))
  describe('people', () => describePeople(openEngine))
  describe('requests', () => describeRequests(openEngine))
  describe('the clock', () => describeClock(openEngine))
  describe('a crash', () => describeCrashes(() => openCrashingNode(postgres)))
  describe('lists', () => describeLists(openEngine))
  describe('owners', () => describeOwners(openEngine))
  describe('the files of pushes', () => describeFilesOfPushes(openEngine))
  describe('the files of pushes in a bucket', () => describeFilesOfPushes(openWithBucket))
  describe('pushes', () => describePushes(openEngine))
})
