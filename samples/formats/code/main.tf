# The main instance.
resource "aws_instance" "web" {
  ami           = data.aws_ami.ubuntu.id
  instance_type = "t3.micro"

  lifecycle {
    create_before_destroy = true
  }
}

variable "region" {
  type    = string
  default = "x"
}

module "vpc" {
  source = "./vpc"
}

locals {
  a = 1
  b = 2
}

terraform {
  required_version = ">= 1"
}

output "ip" {
  value = aws_instance.web.public_ip
}
