export type { ModelOptions } from './catalog.ts';
export {
  type Abortable,
  createKiln,
  type FollowAllOptions,
  type FollowOptions,
  type InputOf,
  isEnded,
  type Kiln,
  type Kind,
  type KnownModel,
  type ListOptions,
  type OptionsOf,
  startOf,
  type StartOptions,
  type SubscribeOptions,
  type TaskPage,
} from './client.ts';
export type { ConnectionOptions, KilnSocket } from './connection.ts';
export { KilnError, type KilnErrorCode, type KilnErrorOptions } from './errors.ts';
export type * from './graph.ts';
export { STARTS } from './graph.ts';
export type { UploadOptions } from './upload.ts';
export { type ReceivedWebhook, type TaskWebhook, verifyWebhook } from './webhook.ts';
