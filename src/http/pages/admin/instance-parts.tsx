// The sections of the administration page about the instance itself: its proxies, its numbers, its jobs.

import type { JobStatus } from '../../../operating/jobs.ts'
import type { Status } from '../../../services/upkeep/status.ts'
import type { WordKey, Words } from '../../../words/words.ts'
import type { Member } from '../frame/guest.ts'
import { DamageNotice, Moment, Notice } from '../frame/parts.tsx'

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

export function StatusList({ guest, status }: { guest: Member; status: Status }) {
  const { words } = guest
  const { say } = words
  const { lastSweep } = status
  return (
    <section aria-labelledby="status-title">
      <h2 id="status-title">{say('admin_status')}</h2>
      <DamageNotice damaged={status.damaged} words={words} />
      <dl class="facts">
        <dt>{say('admin_live')}</dt>
        <dd>{words.number(status.live)}</dd>
        <dt>{say('admin_expired')}</dt>
        <dd>{words.number(status.expired)}</dd>
        <dt>{say('admin_disk')}</dt>
        <dd>
          {say('admin_disk_free', { free: words.bytes(status.free), total: words.bytes(status.total) })}
        </dd>
        <dt>{say('admin_sweep')}</dt>
        <dd>
          {lastSweep === null ? (
            say('admin_sweep_none')
          ) : (
            <>
              <Moment at={lastSweep.at} words={words} />{' '}
              {say('admin_sweep_did', { n: lastSweep.expired, purged: lastSweep.purged })}
            </>
          )}
        </dd>
      </dl>
    </section>
  )
}

const JOB_WORDS: Record<JobStatus['name'], WordKey> = {
  expiry: 'job_expiry',
  sweep: 'job_sweep',
  checkpoint: 'job_checkpoint',
  reserve: 'job_reserve',
  scrub: 'job_scrub',
  certificate: 'job_certificate',
}

const STATE_WORDS: Record<JobStatus['state'], WordKey> = {
  running: 'job_running',
  finished: 'job_finished',
  stopped: 'job_stopped',
}

/** Shows no reason of a failure, which may name paths: the log has it. */
export function JobTable({ guest, jobs }: { guest: Member; jobs: readonly JobStatus[] }) {
  const { words } = guest
  const { say } = words
  const moment = (at: number | null) => (at === null ? say('job_never') : <Moment at={at} words={words} />)
  return (
    <section aria-labelledby="jobs-title">
      <h2 id="jobs-title">{say('admin_jobs')}</h2>
      <p class="hint">{say('admin_jobs_hint')}</p>
      <div class="scrolls" tabIndex={0}>
        <table>
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
              <tr key={name}>
                <th scope="row">{say(JOB_WORDS[name])}</th>
                <td>{say(STATE_WORDS[state])}</td>
                <td>{moment(lastDidAt)}</td>
                <td>{moment(lastFailedAt)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
