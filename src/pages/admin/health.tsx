// The health of the server on the administration page: its proxies, its checks as /readyz tells them, its disk and its jobs.

import { type Finding, wordOf } from '../../operating/health.ts'
import type { JobStatus } from '../../operating/jobs.ts'
import type { Status } from '../../operating/status.ts'
import type { Words } from '../../words/words.ts'
import type { Member } from '../frame/guest.ts'
import { Facts, Table } from '../frame/lists.tsx'
import { Card, Chip, Moment, Notice } from '../frame/parts.tsx'

export function ProxyNotice({ addresses, words }: { addresses: string[]; words: Words }) {
  return addresses.length === 0 ? null : (
    <Notice kind="bad">
      <p>{words.say('admin_proxy')}</p>
      <p>
        <code dir="ltr">{addresses.map((address) => `--trusted-proxy ${address}`).join(' ')}</code>
      </p>
    </Notice>
  )
}

type HealthProps = { guest: Member; status: Status; findings: readonly Finding[]; jobs: readonly JobStatus[] }

export function Health({ guest, status, findings, jobs }: HealthProps) {
  const { words } = guest
  const { say, number } = words
  const { database, bucket, needsDisk } = status
  return (
    <Card id="health" title={say('admin_health')}>
      <Findings findings={findings.filter((found) => !isTold(found, status))} />
      <Facts
        of={[
          [say('admin_live'), number(status.live)],
          [say('admin_expired'), number(status.expired)],
          database && [say('admin_database'), <code dir="ltr">{database.name}</code>],
          needsDisk && [say('admin_disk'), <Disk status={status} words={words} />],
          bucket !== null && [say('admin_files'), say('admin_files_bucket', { name: bucket })],
          [say('admin_sweep'), <LastSweep status={status} words={words} />],
        ]}
      />
      <Jobs words={words} jobs={jobs} />
    </Card>
  )
}

/** Backups have a part of their own on this page, and a clock in doubt has a button. */
function isTold({ part, state }: Finding, { doubt }: Status): boolean {
  return state === 'ok' || part === 'backup' || (part === 'clock' && doubt !== null)
}

/** In English, as everywhere that the checks are told. */
function Findings({ findings }: { findings: readonly Finding[] }) {
  return findings.map((found) => (
    <Notice kind={found.state === 'problem' ? 'bad' : 'low'}>
      <p lang="en" dir="ltr">
        <strong>{found.part}</strong>: {wordOf(found)}
      </p>
    </Notice>
  ))
}

/** A fuller disk than this shows as bad. */
const FULL = 0.95

function Disk({ status: { free, total }, words }: { status: Status; words: Words }) {
  const text = words.say('admin_disk_free', { free: words.bytes(free), total: words.bytes(total) })
  return (
    <>
      {text}
      <meter class="disk" min={0} max={total} value={total - free} high={total * FULL} aria-label={text} />
    </>
  )
}

function LastSweep({ status: { lastSweep }, words }: { status: Status; words: Words }) {
  if (lastSweep === null) return <>{words.say('admin_sweep_none')}</>
  return (
    <>
      <Moment at={lastSweep.at} words={words} />{' '}
      {words.say('admin_sweep_did', { n: lastSweep.expired, purged: lastSweep.purged })}
    </>
  )
}

/** Whether a job has failed and has done nothing since. */
function isFailing({ lastDidAt, lastFailedAt }: JobStatus): boolean {
  return lastFailedAt !== null && (lastDidAt === null || lastFailedAt > lastDidAt)
}

/** Shows no reason of a failure, which may name paths: the log has it. */
function Jobs({ words, jobs }: { words: Words; jobs: readonly JobStatus[] }) {
  const { say } = words
  const failing = jobs.filter(isFailing).length
  const moment = (at: number | null) => (at === null ? say('job_never') : <Moment at={at} words={words} />)
  return (
    <section aria-labelledby="jobs-title">
      <details open={failing > 0}>
        <summary id="jobs-title">
          {say('admin_jobs')}{' '}
          {failing === 0 ? (
            <Chip tone="good">{say('jobs_fine')}</Chip>
          ) : (
            <Chip tone="bad">{say('jobs_failing', { n: failing })}</Chip>
          )}
        </summary>
        <p class="hint">{say('admin_jobs_hint')}</p>
        <Table
          heads={[say('job'), say('job_state'), say('job_did'), say('job_failed')]}
          rows={jobs.map(({ name, state, lastDidAt, lastFailedAt }) => [
            say(`job_${name}`),
            say(`job_${state}`),
            moment(lastDidAt),
            moment(lastFailedAt),
          ])}
        />
      </details>
    </section>
  )
}
