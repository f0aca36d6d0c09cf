// SQLite and files on a disk, tested with the guarantees of every engine.

import { describe } from 'bun:test'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listenAtSteps } from '../../../src/store/durable-steps.ts'
import { createDiskFiles } from '../../../src/store/files/disk.ts'
import { createTestClock } from '../../support/instance.ts'
import { openTestStore } from '../../support/store.ts'
import { describeAccounts } from '../conformance/accounts.ts'
import { describeClock } from '../conformance/clock.ts'
import { type Crash, type CrashingEngine, describeCrashes } from '../conformance/crashes.ts'
import type { OpenedEngine } from '../conformance/engine.ts'
import { describeEvents } from '../conformance/events.ts'
import { describeFilesOfPushes, describeSealedFiles, type OpenFiles } from '../conformance/files.ts'
import { describeLists } from '../conformance/lists.ts'
import { describeOutbox } from '../conformance/outbox.ts'
import { describeOwners } from '../conformance/owners.ts'
import { describePeople } from '../conformance/people.ts'
import { describePushes } from '../conformance/pushes.ts'
import { describeRequests } from '../conformance/requests.ts'

type StoreOptions = Parameters<typeof openTestStore>[0]

async function openEngine(options: StoreOptions = {}): Promise<OpenedEngine> {
  let opened = await openTestStore(options)
  const { clock, dataDir } = opened
  return {
    get store() {
      return opened.store
    },
    clock,
    reopen: async () => {
      await opened.store.close()
      opened = await openTestStore({ dataDir, clock })
    },
    close: () => opened.close(),
  }
}

/**
 * Opens an engine that copies its folder at each step. A kill -9 would leave the same, because the system
 * keeps written data.
 */
async function openCrashing(): Promise<CrashingEngine> {
  const crashes: Crash[] = []
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-crashes-'))
  const dataDir = join(folder, 'data')
  const clock = createTestClock()
  const isCopied = (source: string) => !source.endsWith('.lock')
  listenAtSteps((step) => {
    const copy = join(folder, String(crashes.length))
    cpSync(dataDir, copy, { recursive: true, filter: isCopied })
    const time = clock.now()
    crashes.push({
      step,
      open: () => openEngine({ dataDir: copy, clock: createTestClock(time), acceptMove: true }),
    })
  })
  const engine = await openEngine({ dataDir, clock })
  const close = async () => {
    await engine.close()
    listenAtSteps(null)
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    ...engine,
    listCrashes: () => {
      listenAtSteps(null)
      return [...crashes]
    },
    close,
  }
}

const openFiles: OpenFiles = () => {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-files-'))
  return { files: createDiskFiles(folder), close: () => rmSync(folder, { recursive: true, force: true }) }
}

describe('pushes', () => describePushes(openEngine))
describe('the clock', () => describeClock(openEngine))
describe('a crash', () => describeCrashes(openCrashing))
describe('lists', () => describeLists(openEngine))
describe('owners', () => describeOwners(openEngine))
describe('accounts', () => describeAccounts(openEngine))
describe('events', () => describeEvents(openEngine))
describe('the outbox', () => describeOutbox(openEngine))
describe('people', () => describePeople(openEngine))
describe('requests', () => describeRequests(openEngine))
describe('the files of pushes', () => describeFilesOfPushes(openEngine))
describe('sealed files', () => describeSealedFiles(openFiles))
