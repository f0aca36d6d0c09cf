// The health of the server on the administration page: findings that need attention come first, such as those
// of /readyz or a clock in doubt; its disk, jobs and nodes follow.

import type { Doubt } from '../../domain/clock.ts'
import { PAGES } from '../../http/urls.ts'
import { type Finding, wordOf } from '../../operating/health.ts'
import type { JobStatus } from '../../operating/jobs.ts'
import type { DatabaseStatus, ServingNode, Status } from '../../operating/status.ts'
import type { Words } from '../../words/words.ts'
import { explainDelivery } from '../account/mail.tsx'
import { leadTo, type Member } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import { Facts, Table } from '../frame/lists.tsx'
import { Card, Chip, Flag, Moment, Notice, type NoticeKind } from '../frame/parts.tsx'
import { ButtonForm } from '../frame/post-form.tsx'

type AttentionProps = {
  guest: Member
  status: Status
  findings: readonly Finding[]
  jobs: readonly JobStatus[]
  /** Addresses of a reverse proxy on this machine that the operator should declare. */
  proxies: readonly string[]
  /** Whether this server could make backups but makes none. */
  lacksBackups: boolean
  /** The number of administrators without a second factor. */
  unprotected: number
}

/** The findings that an administrator should look at first. */
export function Attention(props: AttentionProps) {
  const { guest, status, findings, jobs, proxies, lacksBackups, unprotected } = props
  const { words, say } = guest
  // ClockNotice reports a clock in doubt, with a button.
  const warnings = findings.filter(({ part, state }) => state !== 'ok' && !(part === 'clock' && status.doubt))
  const failing = jobs.filter(isFailing).length
  const isFine = warnings.length === 0 && failing === 0 && proxies.length === 0 && status.doubt === null
  return (
    <section id="attention">
      <ClockNotice guest={guest} doubt={status.doubt} />
      {proxies.length > 0 && (
        <Notice kind="bad">
          <p>{say('admin_proxy')}</p>
          <p>
            <code dir="ltr">{proxies.map((address) => `--trusted-proxy ${address}`).join(' ')}</code>
          </p>
        </Notice>
      )}
      {warnings.map((finding) => (
        <Notice kind={finding.state === 'problem' ? 'bad' : 'low'}>
          <p>
            <strong>{headlineOf(finding, words)}</strong>
          </p>
          {finding.failing?.map(({ host, error }) => (
            <p>{say('labelled', { label: host, text: explainDelivery(error, words) })}</p>
          )) ?? (
            // The exact words of the log.
            <p lang="en" dir="ltr">
              {markFlags(wordOf(finding))}
            </p>
          )}
        </Notice>
      ))}
      {failing > 0 && (
        <Advice kind="bad" text={say('jobs_failing', { n: failing })} to="#health" words={words} />
      )}
      {lacksBackups && <Advice kind="low" text={say('admin_no_backups')} to="#backups" words={words} />}
      {unprotected > 0 && (
        <Advice
          kind="low"
          text={say('admin_no_two_factor', { n: unprotected })}
          to={guest.account.hasTwoFactor ? '#people' : guest.href(PAGES.twoFactor.href())}
          words={words}
        />
      )}
      {isFine && !lacksBackups && unprotected === 0 && <Notice kind="good">{say('admin_nothing')}</Notice>}
    </section>
  )
}

function headlineOf({ part }: Finding, { knows, say }: Words): string {
  const key = `health_${part}`
  return knows(key) ? say(key) : part
}

/** Marks each flag in a text, so that no line breaks within it. */
function markFlags(text: string): Children {
  return text.split(/(--[a-z]+(?:-[a-z]+)*)/).map((part, at) => (at % 2 === 1 ? <Flag>{part}</Flag> : part))
}

function Advice({ kind, text, to, words }: { kind: NoticeKind; text: string; to: string; words: Words }) {
  return (
    <Notice kind={kind}>
      <p>
        {text} <a href={to}>{words.say('admin_what_to_do')}</a>
      </p>
    </Notice>
  )
}

type HealthProps = { guest: Member; status: Status; jobs: readonly JobStatus[] }

export function Health({ guest, status, jobs }: HealthProps) {
  const { words, say } = guest
  const { number } = words
  const { database, bucket, needsDisk, lastSweep } = status
  return (
    <Card id="health" title={say('admin_health')}>
      <Facts
        of={[
          [say('admin_live'), number(status.live)],
          [say('admin_expired'), number(status.expired)],
          database && [say('admin_database'), <code dir="ltr">{database.name}</code>],
          needsDisk && [say('admin_disk'), <Disk status={status} words={words} />],
          bucket !== null && [say('admin_files'), say('admin_files_bucket', { name: bucket })],
          [
            say('admin_sweep'),
            lastSweep === null
              ? say('admin_sweep_none')
              : [
                  <Moment at={lastSweep.at} words={words} />,
                  lastSweep.expired + lastSweep.purged > 0 &&
                    ` ${say('admin_sweep_did', { n: lastSweep.expired, purged: lastSweep.purged })}`,
                ],
          ],
        ]}
      />
      <Jobs words={words} jobs={jobs} />
    </Card>
  )
}

/** The share of used space from which the meter shows the disk as full. */
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

/** Whether the last run of a job failed. */
function isFailing({ lastDidAt, lastFailedAt }: JobStatus): boolean {
  return lastFailedAt !== null && (lastDidAt === null || lastFailedAt > lastDidAt)
}

/** Omits the reason of a failure, because it may name paths. The log has it. */
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

function ClockNotice({ guest, doubt }: { guest: Member; doubt: Doubt | null }) {
  const { words, say } = guest
  return doubt === null ? null : (
    <Notice kind="bad">
      <p>
        <strong>{say('clock_doubt')}</strong>
      </p>
      <Facts
        of={[
          [say('clock_said'), <Moment at={doubt.said} words={words} />],
          [say('clock_expected'), <Moment at={doubt.expected} words={words} />],
        ]}
      />
      <p>{say('clock_meaning')}</p>
      <ButtonForm guest={guest} action={PAGES.acceptClock.href()} label={say('clock_accept')} look="danger" />
    </Notice>
  )
}

/** Accepts the present clock, durably. */
export type AcceptClock = (by: { accountId: number }) => Promise<void>

/** Handles the button. From then on, pushes that have expired by this clock are destroyed. */
export function createAcceptClock(acceptClock: AcceptClock) {
  return async (guest: Member): Promise<Response> => {
    await acceptClock({ accountId: guest.account.id })
    return leadTo(guest, PAGES.admin.href())
  }
}

/** `database` is null if the rows are in the data folder. */
export function Nodes({ database, words }: { database: DatabaseStatus | null; words: Words }) {
  const { say } = words
  if (database === null) return null
  const { nodes, upgrade } = database
  return (
    <Card id="nodes" title={say('admin_nodes')}>
      {upgrade && (
        <Notice kind="low">
          <p>
            <strong>{say('nodes_upgrade')}</strong>{' '}
            {say('nodes_upgrade_left', { n: upgrade.older, version: upgrade.newest })}
          </p>
        </Notice>
      )}
      <Table
        heads={[say('node'), say('node_version'), say('node_since'), say('node_seen')]}
        rows={nodes.map((node) => cellsOf(node, words))}
      />
      <p class="hint">{say('nodes_hint')}</p>
    </Card>
  )
}

function cellsOf(node: ServingNode, words: Words): Children[] {
  const { say } = words
  const { name, version, startedAt, silence, isThis, isOlder, isSilent } = node
  return [
    [<bdi>{name}</bdi>, ' ', isThis && <Chip tone="good">{say('node_this')}</Chip>],
    [<bdi>{version}</bdi>, ' ', isOlder && <Chip tone="low">{say('node_older')}</Chip>],
    <Moment at={startedAt} words={words} />,
    isSilent ? <Chip tone="bad">{words.ago(silence)}</Chip> : words.ago(silence),
  ]
}
