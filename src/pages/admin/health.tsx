// The health of the server on the administration page: its proxies, its checks as /readyz tells them, its disk and its jobs.

import { type Finding, wordOf } from '../../operating/health.ts'
import type { JobStatus } from '../../operating/jobs.ts'
import type { Status } from '../../operating/status.ts'
import type { WordKey, Words } from '../../words/words.ts'
import type { Member } from '../frame/guest.ts'
import { Chip, Moment, Notice } from '../frame/parts.tsx'

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
  const { say } = words
  return (
    <section class="card" aria-labelledby="health-title">
      <h2 id="health-title">{say('admin_health')}</h2>
      <Findings findings={findings.filter((found) => !isTold(found, status))} />
      <dl class="facts">
        <dt>{say('admin_live')}</dt>
        <dd>{words.number(status.live)}</dd>
        <dt>{say('admin_expired')}</dt>
        <dd>{words.number(status.expired)}</dd>
        {status.database !== null && <Database database={status.database} words={words} />}
        {status.needsDisk && (
          <>
            <dt>{say('admin_disk')}</dt>
            <dd>
              <Disk status={status} words={words} />
            </dd>
          </>
        )}
        {status.bucket !== null && (
          <>
            <dt>{say('admin_files')}</dt>
            <dd>{say('admin_files_bucket', { name: status.bucket })}</dd>
          </>
        )}
        <dt>{say('admin_sweep')}</dt>
        <dd>
          <LastSweep status={status} words={words} />
        </dd>
      </dl>
      <Jobs guest={guest} jobs={jobs} />
    </section>
  )
}

/** Backups have a part of their own on this page, and a clock in doubt has a button. */
function isTold({ part, state }: Finding, { doubt }: Status): boolean {
  return state === 'ok' || part === 'backup' || (part === 'clock' && doubt !== null)
}

/** In English, as everywhere that the checks are told. */
function Findings({ findings }: { findings: readonly Finding[] }) {
  return (
    <>
      {findings.map((found) => (
        <Notice kind={found.state === 'problem' ? 'bad' : 'low'}>
          <p lang="en" dir="ltr">
            <strong>{found.part}</strong>: {wordOf(found)}
          </p>
        </Notice>
      ))}
    </>
  )
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

function Database({ database, words }: { database: NonNullable<Status['database']>; words: Words }) {
  const { say } = words
  return (
    <>
      <dt>{say('admin_database')}</dt>
      <dd>
        <code dir="ltr">{database.name}</code>
      </dd>
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

const JOB_WORDS: Record<JobStatus['name'], WordKey> = {
  expiry: 'job_expiry',
  sweep: 'job_sweep',
  checkpoint: 'job_checkpoint',
  reserve: 'job_reserve',
  clock: 'job_clock',
  certificate: 'job_certificate',
  backup: 'job_backup',
  bucket: 'job_bucket',
  heartbeat: 'job_heartbeat',
  operations: 'job_operations',
  shared: 'job_shared',
}

const STATE_WORDS: Record<JobStatus['state'], WordKey> = {
  running: 'job_running',
  stopped: 'job_stopped',
}

/** Whether a job has failed and has done nothing since. */
function isFailing({ lastDidAt, lastFailedAt }: JobStatus): boolean {
  return lastFailedAt !== null && (lastDidAt === null || lastFailedAt > lastDidAt)
}

/** Shows no reason of a failure, which may name paths: the log has it. */
function Jobs({ guest, jobs }: { guest: Member; jobs: readonly JobStatus[] }) {
  const { words } = guest
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
        <table class="stacks">
          <thead>
            <tr>
              <th scope="col">{say('job')}</th>
              <th scope="col">{say('job_state')}</th>
              <th scope="col">{say('job_did')}</th>
              <th scope="col">{say('job_failed')}</th>
            </tr>
          </thead>
          <tbody>
            {jobs.map(({ name, state, lastDidAt, lastFailedAt }) => (
              <tr>
                <th scope="row">{say(JOB_WORDS[name])}</th>
                <td data-label={say('job_state')}>{say(STATE_WORDS[state])}</td>
                <td data-label={say('job_did')}>{moment(lastDidAt)}</td>
                <td data-label={say('job_failed')}>{moment(lastFailedAt)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  )
}
