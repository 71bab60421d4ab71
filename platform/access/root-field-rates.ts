/** How Kiln's root fields count against the rates; a test compares these lists with the schemas' rules. */

/** Subscriptions that start paid work: starts. */
export const PAID_SUBSCRIPTIONS = ['chatStream'];

/** Subscriptions that tell a thing as it is, then whenever it has changed: subscribing again misses nothing. */
export const STATE_SUBSCRIPTIONS = ['paymentUpdated'];

/** Mutations that take or give credentials: sign-ins. */
export const SIGN_INS = [
  'beginSignIn',
  'completeSignIn',
  'refreshSession',
  'revokeSession',
  'signInWithPlatform',
];

/** Other mutations that start no work: writes. Every other one is a start. */
export const WRITES = [
  'addToBoard',
  'cancelTask',
  'createBoard',
  'createBudget',
  'createVideoTemplate',
  'createWebhookEndpoint',
  'deleteBoard',
  'deleteBudget',
  'deleteConversation',
  'deleteMedia',
  'deleteTask',
  'shareBoard',
  'shareMedia',
  'starMedia',
  'unshareBoard',
  'revokeShare',
  'deleteVideoTemplate',
  'deleteWebhookEndpoint',
  'pauseBinding',
  'redeliverToWebhookEndpoint',
  'redeliverWebhook',
  'refreshModel',
  'removeFromBoard',
  'renameBoard',
  'resumeBinding',
  'saveConversation',
  'rotateWebhookSecret',
  'updateBudget',
  'updateVideoTemplate',
  'updateWebhookEndpoint',
  'uploadFile',
  'uploadLipSyncResource',
  'uploadToProvider',
  'uploadVoiceSample',
  'cancelPayment',
  'changeTemplates',
  'createServiceKey',
  'createTemplate',
  'createTestTemplate',
  'deleteAccount',
  'deletePerson',
  'deleteTemplate',
  'endUserSessions',
  'importBundledTemplates',
  'reconcilePayment',
  'refundPayment',
  'revokeServiceKey',
  'syncTemplates',
  'takePaymentEvent',
  'updateTemplate',
];
