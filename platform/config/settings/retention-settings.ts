import { integer } from './formats.ts';
import { setting } from './setting.ts';

export const CENTURY_DAYS = 36_500;

/** How long logs and tasks are kept. */
export const retentionSettings = {
  EVENT_RETENTION_DAYS: setting(
    integer(0, CENTURY_DAYS),
    'days that event logs are kept after the end of their task; 0 = forever',
    '30',
  ),
  TASK_RETENTION_DAYS: setting(
    integer(0, CENTURY_DAYS),
    'days that tasks are kept after their end, with prompt, log and the files they made (those of executions at least 30); 0 = forever',
    '0',
  ),
  PROMPT_RETENTION_DAYS: setting(
    integer(0, CENTURY_DAYS),
    'days that prompts, texts and parameters are kept after the end of their task or execution; 0 = as long as these',
    '0',
  ),
};
