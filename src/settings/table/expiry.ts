// How long pushes live.

import { MAX_DAYS, MAX_VIEWS } from '../../domain/new-push.ts'
import { duration, wholeNumber } from '../parsers.ts'
import { on, type Table } from '../setting.ts'

const group = 'Expiry'
const days = { group, placeholder: 'days', parse: wholeNumber('1', String(MAX_DAYS)) }
const views = { group, placeholder: 'views', parse: wholeNumber('1', String(MAX_VIEWS)) }

export const expirySettings = {
  expireAfterDaysDefault: {
    flag: 'expire-after-days-default',
    ...days,
    default: '7',
    help: 'Days until a push expires, unless its creator chooses',
  },
  expireAfterDaysMin: {
    flag: 'expire-after-days-min',
    ...days,
    default: '1',
    help: 'Fewest days a creator may choose',
  },
  expireAfterDaysMax: {
    flag: 'expire-after-days-max',
    ...days,
    default: '90',
    help: 'Most days a creator may choose',
  },
  expireAfterViewsDefault: {
    flag: 'expire-after-views-default',
    ...views,
    default: '5',
    help: 'Views until a push expires, unless its creator chooses',
  },
  expireAfterViewsMin: {
    flag: 'expire-after-views-min',
    ...views,
    default: '1',
    help: 'Fewest views a creator may choose',
  },
  expireAfterViewsMax: {
    flag: 'expire-after-views-max',
    ...views,
    default: '100',
    help: 'Most views a creator may choose',
  },
  retrievalStepDefault: {
    flag: 'retrieval-step-default',
    group,
    ...on,
    help: 'Whether a link asks for a click before it shows the push, unless its creator chooses',
  },
  deletableByViewerDefault: {
    flag: 'deletable-by-viewer-default',
    group,
    ...on,
    help: 'Whether viewers may delete a push, unless its creator chooses',
  },
  purgeAfter: {
    flag: 'purge-after',
    group,
    placeholder: 'duration',
    parse: duration('1d', '36500d'),
    default: '365d',
    help: 'How long the audit log of an expired push is kept for its owner',
  },
} satisfies Table
