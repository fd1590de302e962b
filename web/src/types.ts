// Types of the API as the page uses them, derived from server/api/openapi.yaml. Times are RFC 3339 strings; *_ns are
// decimal strings, since they exceed 2^53. Counts are typed as numbers: the API sends strings only above 2^53.
import type { components } from './api_types';

type Schemas = components['schemas'];
type Plain<T> = [number | string] extends [T]
    ? Exclude<T, string>
    : T extends readonly [unknown, ...unknown[]]
      ? T
      : T extends (infer One)[]
        ? Plain<One>[]
        : T extends object
          ? { [K in keyof T]: Plain<T[K]> }
          : T;
type Of<Name extends keyof Schemas> = Plain<Schemas[Name]>;

export type Part = Of<'Part'>;
export type RecordingState = Schemas['RecordingState'];
export type Channel = Of<'Channel'>;
export type Topic = Of<'Topic'>;
export type Recording = Omit<Of<'Recording'>, 'duration_ns' | 'custom' | 'tags' | 'format'> & {
    duration_ns: number | string | null;
    custom: Record<string, unknown>;
    tags: Record<string, string>;
    format: string; // null only during the first scan: shown as an empty string
};
export interface Message<T = unknown> {
    topic: string;
    sequence: number;
    log_time: string; // by time_format
    publish_time: string;
    before_start?: boolean;
    encoding?: string;
    frame_id?: string;
    callerid?: string;
    data: T;
}
export type Fetch = Of<'Fetch'>;
export type RecordingLink = Of<'RecordingLink'>;
export type Value = Of<'ValueCount'>;
export type Values = Of<'ValuePage'>;
export type Stat = Of<'Total'>;
export type Collection = Of<'Collection'>;
export type CoverageBucket = Of<'CoverageOfTime'>;
export type ServiceDocument = Of<'ServiceDocument'>;
export type Job = Of<'Job'>;
export type JobStarted = Of<'JobStarted'>;
export type Preview = Of<'Preview'>;
export type Saved = Of<'Saved'>;
export type Dataset = Of<'Dataset'>;
export type DatasetReport = Of<'DatasetReport'>;
export type BatchPlan = Of<'BatchPlan'>;
export type BatchResult = Of<'BatchResult'>;
export type Webhook = Of<'Webhook'>;
export type WebhookNew = Of<'WebhookNew'>;
export type WebhookDetail = Of<'WebhookDetail'>;
export type WebhookTest = Of<'WebhookTest'>;
export type Retention = Of<'Retention'>;
export type RetentionRule = Of<'RetentionRule'>;
export type RetentionItem = Of<'RetentionItem'>;
export type EventRow = Of<'Event'>;
export type Finding = Of<'Finding'>;
export type FoundInterval = Of<'FoundInterval'>;
export type FoundValues = Of<'FoundValues'>;
export type PendingValues = Of<'PendingValues'>;
export type Quota = Of<'Quota'>;
export type ImportItem = Of<'ImportItem'>;
export type Watch = Of<'Watch'>;
export type Failure = Of<'Failure'>;
export type AuditEntry = Of<'AuditEntry'>;
export type Backup = Of<'Backup'>;
export type NoBackup = Of<'NoBackup'>;
export type Scrub = Of<'Scrub'>;
export interface Change {
    kind: string; // recording.created …, scan.done …; gap: changes were missed
    seq: number;
    time: string;
    recording?: string;
    collection?: string;
    name?: string;
    detail?: { event?: string };
}
export interface Problem {
    type: string;
    title: string;
    status: number;
    detail: string;
    instance?: string;
    request_id?: string;
    errors?: { param: string; detail: string }[];
    [member: string]: unknown;
}
