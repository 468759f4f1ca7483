require "json"
require_relative "receiver"

answers = JSON.parse(File.read(ARGV[0], encoding: "UTF-8")).map do |signed|
  send("verify_#{signed["scheme"]}", signed["body"], signed["headers"], signed["secret"])
end
puts JSON.generate(answers)
