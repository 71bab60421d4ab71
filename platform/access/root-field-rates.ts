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
  'cancelPayment',
  'cancelTask',
  'cancelTasks',
  'changeTemplates',
  'closeComfyServer',
  'createBoard',
  'createBudget',
  'createServiceKey',
  'createTemplate',
  'createTestTemplate',
  'createVideoTemplate',
  'createWebhookEndpoint',
  'deleteAccount',
  'deleteBoard',
  'deleteBudget',
  'deleteConversation',
  'deleteMedia',
  'deletePerson',
  'deleteTask',
  'deleteTemplate',
  'deleteVideoTemplate',
  'deleteWebhookEndpoint',
  'deleteWorkflow',
  'endUserSessions',
  'importBundledTemplates',
  'openComfyServer',
  'pauseBinding',
  'publishWorkflow',
  'reconcilePayment',
  'redeliverToWebhookEndpoint',
  'redeliverWebhook',
  'refreshModel',
  'refundPayment',
  'removeFromBoard',
  'renameBoard',
  'resumeBinding',
  'revokeServiceKey',
  'revokeShare',
  'rollBackWorkflow',
  'rotateWebhookSecret',
  'saveConversation',
  'saveWorkflow',
  'shareBoard',
  'shareMedia',
  'starMedia',
  'stopBulkOperation',
  'syncTemplates',
  'takePaymentEvent',
  'unshareBoard',
  'updateBudget',
  'updateTemplate',
  'updateVideoTemplate',
  'updateWebhookEndpoint',
  'uploadFile',
  'uploadLipSyncResource',
  'uploadToProvider',
  'uploadVoiceSample',
  'withdrawWorkflow',
];
