// Takes a lock with each library, at the server with the address that is given, and prints
// "taken". For the next line that it reads it claims each of them anew, has the first owners
// release theirs, and prints "claimed". It ends with its standard input.
const readline = require('node:readline')
const { Redis } = require('ioredis')
const { default: Redlock } = require('redlock')
const { Mutex, Semaphore } = require('redis-semaphore')
const { Queue, Worker } = require('bullmq')

const [host, port] = process.argv[2].split(':')
const connection = { host, port: Number(port), maxRetriesPerRequest: null }
const timing = { lockTimeout: 600000, refreshInterval: 0, acquireTimeout: 1000 }

async function main() {
	const client = new Redis(connection)
	const redlock = new Redlock([client], { retryCount: 0 })
	const claim = async () => {
		const owner = { lock: await redlock.acquire(['report'], 600000), mutex: new Mutex(client, 'orders', timing), permit: new Semaphore(client, 'api', 1, timing) }
		await owner.mutex.acquire()
		await owner.permit.acquire()
		return owner
	}
	const first = await claim()
	await new Queue('mail', { connection }).add('send', {}, { jobId: 'j42' })
	const works = (name, options) => new Promise((started) => {
		const worker = new Worker('mail', () => new Promise((finish) => started({ worker, finish })), { connection, name, lockDuration: 600000, ...options })
	})
	const job = await works('mail-worker-1', { skipStalledCheck: true })
	console.log('taken')
	for await (const _ of readline.createInterface({ input: process.stdin })) {
		await claim()
		await works('mail-worker-2', { stalledInterval: 50 }) // the second check finds that the job has no lock
		const refused = new Promise((told) => job.worker.once('error', told)) // it does not own the job any more
		job.finish()
		await refused
		await first.lock.release().catch(() => {}) // it is told that it owns nothing
		await first.mutex.release()
		await first.permit.release()
		console.log('claimed')
	}
	process.exit(0)
}

main().catch((err) => { console.error(err); process.exit(1) })
