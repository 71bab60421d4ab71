/** How Kiln's root fields count against the rates; a test compares both lists with the schemas' rules. */

/** Subscriptions that start paid work: starts. */
export const PAID_SUBSCRIPTIONS = ['chatStream'];

/** Mutations that start no work: writes. Every other one is a start. */
export const WRITES = [
  'cancelTask',
  'createVideoTemplate',
  'deleteMedia',
  'deleteVideoTemplate',
  'redeliverWebhook',
  'updateVideoTemplate',
  'uploadFile',
  'uploadLipSyncResource',
  'uploadToProvider',
  'uploadVoiceSample',
  'beginSignIn',
  'cancelPayment',
  'changeTemplates',
  'completeSignIn',
  'createServiceKey',
  'createTemplate',
  'createTestTemplate',
  'deleteAccount',
  'deleteTemplate',
  'importBundledTemplates',
  'reconcilePayment',
  'refreshSession',
  'refundPayment',
  'revokeServiceKey',
  'revokeSession',
  'signInWithPlatform',
  'syncTemplates',
  'takePaymentEvent',
  'updateTemplate',
];
