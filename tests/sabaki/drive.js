// Drives a GTP engine with Sabaki's own controller and prints what happened as JSON.
// node drive.js SIDE COMMAND [ARGUMENTS...]
const {Command, Controller, ControllerStateTracker} = require('@sabaki/gtp')

const [side, path, ...args] = process.argv.slice(2)
const controller = new Controller(path, args)
const tracker = new ControllerStateTracker(controller)
const seen = {stderr: [], moves: [], analysis: []}

const ask = async (line, subscriber) => {
  const response = await controller.sendCommand(Command.fromString(line), subscriber)
  return {error: response.error, id: response.id, content: response.content.trim()}
}

const main = async () => {
  controller.on('stderr', ({content}) => seen.stderr.push(content))
  controller.start()
  seen.name = await ask('1 name')
  seen.version = await ask('2 protocol_version')
  seen.knows = await tracker.knowsCommand('genmove_analyze')
  await tracker.sync({
    komi: 0.5,
    boardsize: [+side, +side],
    history: [
      {name: 'play', args: ['B', 'A1']},
      {name: 'play', args: ['W', 'B2']},
    ],
  })
  seen.board = (await ask('showboard')).content
  seen.unknown = await ask('7 dance')
  seen.illegal = await ask('play b A1')

  // An analysis goes on until the next command comes.
  let stop = null
  const analysis = ask('analyze b 5', ({line}) => {
    if (line.startsWith('info ')) seen.analysis.push(line)
    if (line.startsWith('info ') && stop === null) stop = ask('name')
  })
  await analysis
  await stop // its answer belongs to it, and not to the next command

  let colour = 'b'
  let passes = 0
  while (passes < 2 && seen.moves.length < 200) {
    let move = null
    if (seen.moves.length % 2) {
      await ask(`genmove_analyze ${colour} 10`, ({line}) => {
        if (line.startsWith('play ')) move = line.slice(5).trim()
      })
    } else {
      move = (await ask(`genmove ${colour}`)).content
    }
    seen.moves.push(move)
    passes = move.toLowerCase() === 'pass' ? passes + 1 : 0
    colour = colour === 'b' ? 'w' : 'b'
  }
  seen.history = tracker.state.history.length
  seen.score = await ask('final_score')
  await controller.stop(20000)
  console.log(JSON.stringify(seen))
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
