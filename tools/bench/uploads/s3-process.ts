import { startS3Server } from '../../../test/kit/object-store/s3-server.ts';

// The bucket in a process of its own, so that its memory is not the measured one's.
const server = await startS3Server();
const end = () => void server.close().then(() => process.exit(0));
process.on('disconnect', end);
process.on('SIGTERM', end);
process.send?.({ settings: server.settings });
