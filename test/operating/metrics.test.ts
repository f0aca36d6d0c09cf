// Metrics: what is counted, in Prometheus' format, and that no push or person is named.

import { expect, test } from 'bun:test'
import { createGauges } from '../../src/operating/gauges.ts'
import { fine, problem } from '../../src/operating/health.ts'
import { createMetrics } from '../../src/operating/metrics.ts'

test('requests are counted by class and status class, with their latencies', async () => {
  const metrics = createMetrics()
  metrics.request({ routeClass: 'create', status: 201, durationMs: 0.7 })
  metrics.request({ routeClass: 'create', status: 201, durationMs: 70 })
  metrics.request({ routeClass: 'retrieve', status: 404, durationMs: 0.2 })
  const text = await metrics.read()
  expect(text).toContain('oncebox_request_duration_seconds_bucket{le="0.001",route="create",status="2xx"} 1')
  expect(text).toContain('oncebox_request_duration_seconds_bucket{le="+Inf",route="create",status="2xx"} 2')
  expect(text).toContain('oncebox_request_duration_seconds_count{route="retrieve",status="4xx"} 1')
})

test('creates, retrievals, refusals and commits are counted', async () => {
  const metrics = createMetrics()
  metrics.created('text')
  metrics.retrieved('view')
  metrics.refused('too_many')
  metrics.refused('shed', 7)
  metrics.uploaded(1000)
  metrics.committed({ steps: 3, durationMs: 2 })
  const text = await metrics.read()
  for (const line of [
    'oncebox_pushes_created_total{kind="text"} 1',
    'oncebox_retrievals_total{outcome="view"} 1',
    'oncebox_refusals_total{reason="too_many"} 1',
    'oncebox_refusals_total{reason="shed"} 7',
    'oncebox_uploaded_bytes_total 1000',
    'oncebox_commit_batch_size_sum 3',
    'oncebox_commit_duration_seconds_count 1',
  ])
    expect(text).toContain(line)
})

test('values of the parts are read at each scrape, and a failing part does not hide the others', async () => {
  const metrics = createMetrics()
  let swept = 1
  metrics.addGauges(
    createGauges({
      version: '3.0.0',
      countPushes: async () => ({ live: 12, expired: 0 }),
      sweeper: { totals: () => ({ expired: swept, purged: 2, files: 3 }) },
      jobs: { list: () => [{ name: 'sweep', state: 'running', lastDidAt: 5000, lastFailedAt: null }] },
      waitingChanges: () => 4,
      countHashing: () => ({ waiting: 2, running: 3 }),
      uploads: { countRunning: () => 5 },
      freeSpace: {
        require: async () => undefined,
        hasRoom: () => true,
        isFull: () => false,
        measure: async () => {
          throw new Error('no disk')
        },
      },
      bucket: null,
      database: null,
      damage: { report: () => undefined, count: () => 6 },
      health: { countMessages: async () => ({ link_mail: { waiting: 7, failed: 8 } }) },
      lookAtHealth: async () => ({
        isReady: false,
        findings: [
          { part: 'database', ...fine('It answers.') },
          { part: 'disk', ...problem('It is full.') },
        ],
      }),
    }),
  )
  await metrics.read()
  swept = 9
  const text = await metrics.read()
  for (const line of [
    'oncebox_pushes_live 12',
    '# TYPE oncebox_swept_total counter',
    'oncebox_swept_total{what="expired"} 9',
    'oncebox_job_last_run_timestamp_seconds{job="sweep"} 5',
    'oncebox_commit_queue 4',
    'oncebox_hash_queue{of="waiting"} 2',
    'oncebox_uploads_running 5',
    'oncebox_damaged_places 6',
    'oncebox_messages_waiting{kind="link_mail"} 7',
    'oncebox_messages_failed{kind="link_mail"} 8',
    'oncebox_healthy{part="disk"} 0',
    'oncebox_healthy{part="database"} 1',
    'oncebox_ready 0',
    '# TYPE process_cpu_seconds_total counter',
    'oncebox_build_info{version="3.0.0"} 1',
  ])
    expect(text).toContain(line)
  expect(text).toMatch(/^process_resident_memory_bytes [1-9]\d{6,}$/m)
  expect(text).not.toMatch(/^oncebox_disk_free_bytes [1-9]/m)
})
