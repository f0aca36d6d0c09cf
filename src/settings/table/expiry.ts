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
    help: 'Days until a push expires, unless its sender chooses',
  },
  expireAfterDaysMin: {
    flag: 'expire-after-days-min',
    ...days,
    default: '1',
    help: 'Fewest days a sender may choose',
  },
  expireAfterDaysMax: {
    flag: 'expire-after-days-max',
    ...days,
    default: '90',
    help: 'Most days a sender may choose',
  },
  expireAfterViewsDefault: {
    flag: 'expire-after-views-default',
    ...views,
    default: '5',
    help: 'Views until a push expires, unless its sender chooses',
  },
  expireAfterViewsMin: {
    flag: 'expire-after-views-min',
    ...views,
    default: '1',
    help: 'Fewest views a sender may choose',
  },
  expireAfterViewsMax: {
    flag: 'expire-after-views-max',
    ...views,
    default: '100',
    help: 'Most views a sender may choose',
  },
  retrievalStepDefault: {
    flag: 'retrieval-step-default',
    group,
    ...on,
    help: 'Whether recipients are told first that opening uses up a view, unless the sender chooses',
  },
  deletableByViewerDefault: {
    flag: 'deletable-by-viewer-default',
    group,
    ...on,
    help: 'Whether recipients may delete a push, unless its sender chooses',
  },
  purgeAfter: {
    flag: 'purge-after',
    group,
    placeholder: 'duration',
    parse: duration('1d', '36500d'),
    default: '365d',
    help: 'How long an expired push stays in the list of its owner, with its log',
  },
} satisfies Table
