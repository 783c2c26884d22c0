# frozen_string_literal: true

# Plants that grow in beds.
module Garden
  class Bed < Base
    attr_reader :plants

    # Adds a plant.
    def plant(name)
      @plants << name
    end

    def self.empty
      new
    end

    private def water
      @plants.each(&:drink)
    end
  end
end

namespace :garden do
  def harvest
    puts "ripe"
  end
end
